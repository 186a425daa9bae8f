// What is rare in the rules of one access: writes of the same value, loops around compare-and-swap.
#include "checker/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "base/scoped_ignore.hpp"
#include "checker/async_copies.hpp"
#include "checker/history.hpp"
#include "checker/late_stores.hpp"
#include "checker/overlap.hpp"
#include "memory/allocations.hpp"
#include "memory/names.hpp"
#include "report/reports.hpp"
#include "simt/atomics.hpp"

namespace simt {

bool access_is_open = false;
unsigned open_weak_failures = 0;
bool has_wide_compare_and_swap = false;

bool expect_wide_compare_and_swap() { return has_wide_compare_and_swap = true; }

namespace {

bool write_is_suspected = false;

/// A block-scope atomic and an atomic of another block are no better than plain accesses.
bool scopes_clash(const Access& earlier, const Access& now) {
  return ((earlier.clock | now.clock) & kBlockScope) != 0 &&
         block_of(earlier.thread) != block_of(now.thread);
}

/// Elements of an array that threads of a block, in shared memory, or lanes of a warp exchange by `volatile` are data, of
/// code that counts on lockstep or on luck. A store that follows a fence announces something, as a flag does.
bool counts_on_lockstep(const Access& store, const Access& load, std::uintptr_t address) {
  if ((store.clock & load.clock & kVolatileElement) == 0 || has_fenced(store.thread)) return false;
  return warp_of(store.thread) == warp_of(load.thread) ||
         is_shared(reinterpret_cast<const void*>(address));
}

AccessKind kind_of(const Access& reader) {
  return (reader.clock & kAtomic) != 0 ? AccessKind::relaxed_read : AccessKind::read;
}

// ---- writes of the same value -------------------------------------------------------------------

/// Two plain writes that race are a mistake unless both write the same value, which is common for
/// flags and harmless on a GPU. The new value is known only after the store.
struct SuspectedWrite {
  std::uintptr_t address = 0;
  std::size_t size = 0;
  std::array<unsigned char, 16> old{};
  Access earlier, now;
  Thread* thread = nullptr;
};
SuspectedWrite suspect;

/// True once the write is to be judged later, by the value it leaves.
bool suspect_write(const Access& earlier, const Access& me, std::uintptr_t address,
                   std::size_t size, Thread& t) {
  if (size > suspect.old.size()) return false;
  if (write_is_suspected) return true;  // the first granule of the same access decides
  write_is_suspected = access_is_open = true;
  suspect.address = address;
  suspect.size = size;
  std::memcpy(suspect.old.data(), reinterpret_cast<const void*>(address), size);
  suspect.earlier = earlier;
  suspect.now = me;
  suspect.thread = &t;
  return true;
}

// ---- compare-and-swap loops ---------------------------------------------------------------------

void forget_reader(Access& reader, const Thread& t, std::uint32_t pc) {
  if (reader.thread == t.id && reader.pc == pc) reader = Access{};
}

void forget_cross_reader(Allocation& a, std::size_t first, std::size_t last, const Thread& t,
                         std::uint32_t pc) {
  CrossCell* const cells = own_cross_cells(a);
  for (std::size_t i = first; cells != nullptr && i <= last; ++i) {
    CrossAccess& read = cells[i].read;
    if (read.operation == overlap_number() && read.thread == t.id && read.pc == pc)
      read = CrossAccess{};
  }
}

/// A plain read and an atomic that nothing orders: held back if the reader may still be in a
/// compare-and-swap loop.
bool hold_back(const Access& reader, std::uintptr_t address, const Access& atomic) {
  Thread* t = resident_thread(reader.thread);
  if (t == nullptr || t->state == State::done) return false;
  RecentReads& r = t->recent;
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    const std::uintptr_t begin = r.address[slot];
    if (begin == 0 || address < begin || address >= begin + r.size[slot]) continue;
    if (!r.conflict[slot]) {
      r.conflict[slot] = true;
      t->held_back[slot] = HeldBack{atomic, {}};
      ++t->conflicts;
    }
    return true;
  }
  return false;
}

}  // namespace

void report_read_conflict(Thread& t, std::size_t slot) {
  const std::uintptr_t address = t.recent.address[slot];
  const std::uint32_t pc = t.recent.pc[slot];
  const HeldBack& r = *t.held_back[slot];
  t.recent.conflict[slot] = false;
  --t.conflicts;
  if (r.cross.operation != 0) {
    const CrossAccess read{t.id, 0, pc, overlap_number(), AccessKind::read};
    report_overlap_of_kernel(r.cross, read, address, nullptr, t);
    return;
  }
  const Access read{t.id, 0, pc};
  report_race({r.other, AccessKind::atomic}, {read, AccessKind::read}, address, t);
}

void settle_read(Thread& t, std::size_t slot, const void* expected) {
  RecentReads& r = t.recent;
  const std::uintptr_t address = r.address[slot];
  t.read_before_write = {address, r.pc[slot], t.now()};
  if (expected != nullptr && std::memcmp(&r.value[slot], expected, r.size[slot]) == 0) {
    Allocation* a = owner_of(address);
    if (a == nullptr) a = global_at(address);
    const std::uint32_t pc = r.pc[slot];
    const std::size_t first = (address - a->begin) >> a->granule_shift;
    const std::size_t last = (address + r.size[slot] - 1 - a->begin) >> a->granule_shift;
    for (std::size_t i = first; a->cells != nullptr && i <= last; ++i) {
      forget_reader(a->cells[i].last_read, t, pc);
      forget_reader(a->cells[i].other_thread, t, pc);
      forget_reader(a->cells[i].other_warp, t, pc);
    }
    if (engine.overlap) forget_cross_reader(*a, first, last, t, pc);
    if (r.conflict[slot]) --t.conflicts;
    r.conflict[slot] = false;
  } else if (r.conflict[slot]) {
    report_read_conflict(t, slot);
  }
  r.address[slot] = 0;
}

// ---- races --------------------------------------------------------------------------------------

namespace {

void judge_readers(const Cell& cell, const Access& me, AccessKind kind, std::uintptr_t address,
                   Thread& t) {
  for (const Access* reader : {&cell.last_read, &cell.other_thread, &cell.other_warp}) {
    if (!conflicts(*reader, t)) continue;
    if (is_atomic(kind)) {
      if ((reader->clock & kAtomic) == 0) {
        if (hold_back(*reader, address, me)) continue;
      } else if (counts_on_lockstep(me, *reader, address)) {
        report_race({*reader, AccessKind::read}, {me, AccessKind::write}, address, t);
        return;
      } else if (!scopes_clash(*reader, me)) {
        continue;
      }
    }
    report_race({*reader, kind_of(*reader)}, {me, kind}, address, t);
    return;
  }
}

}  // namespace

void judge_read(const Cell& cell, std::uintptr_t address, Thread& t, const NowAccess& now) {
  const Access me = record(t, now);
  if (conflicts(cell.write, t))
    report_race({cell.write, AccessKind::write}, {me, now.kind}, address, t);
  if (!conflicts(cell.atomic, t)) return;
  if (now.kind != AccessKind::read) {
    if (counts_on_lockstep(cell.atomic, me, address)) {
      report_race({cell.atomic, AccessKind::write}, {me, AccessKind::read}, address, t);
    } else if (scopes_clash(cell.atomic, me)) {
      report_race({cell.atomic, AccessKind::atomic}, {me, now.kind}, address, t);
    }
  } else if (!hold_back(me, address, cell.atomic)) {
    report_race({cell.atomic, AccessKind::atomic}, {me, now.kind}, address, t);
  }
}

void judge_write(const Cell& cell, std::uintptr_t address, Thread& t, const NowAccess& now) {
  const Access me = record(t, now);
  if (conflicts(cell.write, t)) {
    const bool later =
        now.kind == AccessKind::write && suspect_write(cell.write, me, now.whole, now.size, t);
    if (!later) report_race({cell.write, AccessKind::write}, {me, now.kind}, address, t);
  }
  if (conflicts(cell.atomic, t) && (!is_atomic(now.kind) || scopes_clash(cell.atomic, me))) {
    report_race({cell.atomic, AccessKind::atomic}, {me, now.kind}, address, t);
  }
  judge_readers(cell, me, now.kind, address, t);
}

void judge_replaced_atomics(const AtomicCell& replaced, const Cell& cell, std::uintptr_t address,
                            Thread& t, const NowAccess& now) {
  if (replaced.generation != cell.generation) return;
  const Access me = record(t, now);
  const auto judge = [&](const Access& atomic) {
    if (is_atomic(now.kind) && !scopes_clash(atomic, me)) return;
    if (!conflicts(atomic, t)) return;
    if (now.kind == AccessKind::read && hold_back(me, address, atomic)) return;
    report_race({atomic, AccessKind::atomic}, {me, now.kind}, address, t);
  };
  if (is_atomic(now.kind)) judge(replaced.block_scope);
  const Access& last = cell.atomic;
  if (last.thread != t.id || last.pc == 0) return;
  // The thread's own atomic has found what the other one left: a fence orders the two before a plain access.
  if (is_atomic(now.kind) || !has_fenced(t.id, last.clock >> kClockShift)) {
    judge(replaced.other_thread);
  }
}

// ---- the read-only path -------------------------------------------------------------------------

void judge_read_only(const ReadOnlyCell& load, std::uintptr_t address, const Thread& t,
                     const NowAccess& now) {
  if (load.launch < engine.launch_began) return;
  report_read_only({load.thread, 0, load.pc}, load.path, {record(t, now), now.kind}, address);
}

void read_only_load(const void* pointer, std::size_t size, const void* caller, ReadPath path) {
  if (engine.current == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Allocation* const a = find_target(address, size, AccessKind::read, caller);
  if (a == nullptr || a->space == Space::shared) return;
  const Thread& t = *engine.current;
  const unsigned shift = granule_shift_of(size | (address & 3));
  if (shift < a->granule_shift) refine_shadow(*a, shift);
  ReadOnlyCell* const loads = read_only_cells(*a);
  const std::size_t first = (address - a->begin) >> a->granule_shift;
  const std::size_t last = (address + size - 1 - a->begin) >> a->granule_shift;
  for (std::size_t i = first; i <= last; ++i) {
    loads[i] = {engine.launch_number, t.id, pc_of(caller), path};
    if (a->cells == nullptr || a->cells[i].generation < engine.launch_began) continue;
    for (const auto& [write, kind] : {std::pair{&a->cells[i].write, AccessKind::write},
                                      std::pair{&a->cells[i].atomic, AccessKind::atomic}}) {
      if (write->pc == 0) continue;
      const Access load{t.id, 0, pc_of(caller)};
      report_read_only(load, path, {*write, kind}, a->begin + (i << a->granule_shift));
    }
  }
}

// ---- accesses that are illegal, or not checked --------------------------------------------------

Allocation* check_foreign(std::uintptr_t address, std::size_t size, AccessKind kind,
                          const void* caller) {
  Allocation* a = global_at(address);
  if (a != nullptr && address + size <= a->end() &&
      !(a->space == Space::constant && writes(kind))) {
    return a->space == Space::constant ? nullptr : a;
  }
  const bool is_constant = is_read_only_data(address) || is_initial_value(address);
  if (a == nullptr && !writes(kind) && is_constant) return nullptr;
  stop_illegal(address, size, kind, caller);
}

void check_host_access(std::uintptr_t address, std::size_t size, AccessKind kind,
                       const void* caller) {
  if (address - arena.begin < arena.size) {
    const Allocation* a = owner_of(address);
    const bool host_may = a != nullptr && a->live && address + size <= a->end() &&
                          (a->space == Space::managed || a->space == Space::pinned);
    if (!host_may) return report_host_access(address, size, writes(kind), caller);
  }
  if (address - variable_range.begin < variable_range.size) {
    const Allocation* a = global_at(address);
    const bool is_of_device =
        a != nullptr && (a->space == Space::global || a->space == Space::constant);
    if (is_of_device) return report_host_access(address, size, writes(kind), caller);
  }
  if (host_is_watched) overlap_host_access(address, size, kind, caller);
}

// ---- writes of the same value -------------------------------------------------------------------

namespace {

/// These bytes as a value of the array that the suspected write goes to.
Value value_there(const void* bytes) {
  const Allocation* const a = named_by(suspect.address);
  const bool is_element = a != nullptr && a->element.size == suspect.size;
  return value_at(bytes, suspect.size, is_element ? a->element : ElementType{});
}

void note_equal_writes() {
  const ScopedIgnore guard;
  const void* const caller = return_address_of(suspect.now.pc);
  if (is_noted(caller)) return;
  on_host_stack([&] {
    const void* const there = reinterpret_cast<const void*>(suspect.address);
    const std::optional<std::string> value = text_of(value_there(there));
    note_unless_found(fmt::format("several threads write the same value in no fixed order.\n"
                                  "  {} and {}, for example, both write {}{}.",
                                  capitalised(thread_name(suspect.earlier.thread)),
                                  thread_name(suspect.now.thread), value ? *value + " to " : "",
                                  describe_element(suspect.address)),
                      object_at(suspect.address), caller);
  });
}

}  // namespace

// ---- what the layers above tell -----------------------------------------------------------------

void checker_start_launch() {
  access_is_open = write_is_suspected = false;
  open_weak_failures = 0;
  fences_start_launch();
  history_start_launch();
  async_copies_start_launch();
}

void checker_settle_access() {
  if (!access_is_open) return;
  access_is_open = false;
  restore_late_store();
  if (!write_is_suspected) return;
  write_is_suspected = false;
  const void* now = reinterpret_cast<const void*>(suspect.address);
  if (std::memcmp(now, suspect.old.data(), suspect.size) == 0) return note_equal_writes();
  const Overwrite values = {value_there(suspect.old.data()), value_there(now)};
  report_race({suspect.earlier, AccessKind::write}, {suspect.now, AccessKind::write},
              suspect.address, *suspect.thread, &values);
}

void settle_weak_failure(Thread& t, std::uintptr_t address, const void* caller) {
  if (t.weak_failure.address == 0) return;
  const WeakFailure failed = std::exchange(t.weak_failure, {});
  --open_weak_failures;
  if (failed.address == address && failed.caller == caller) return;  // a loop
  const ScopedIgnore guard;
  const std::string text =
      "compare_exchange_weak() fails here although it finds what it expects: C++ allows it.";
  const bool has_ended = caller == nullptr;
  clue_text(text + (has_ended ? "\n  The thread does not try again: is a loop missing?" : ""),
            failed.caller);
}

void checker_end_thread(Thread& t) {
  checker_settle_access();
  settle_weak_failure(t, 0, nullptr);
  if (t.conflicts == 0) return;
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    if (t.recent.address[slot] != 0 && t.recent.conflict[slot]) report_read_conflict(t, slot);
  }
}

void checker_barrier(Block& block) {
  block.barrier_clock = ++block.clock;
  block.cluster_known = block.cluster_waited;
  fence_barrier(block);
}

void checker_grid_barrier() {
  ++engine.launch_number;
  late_stores_all_visible();
}

void checker_warp_sync(Block& block, unsigned warp, unsigned lanes) {
  std::array<std::uint32_t, kWarpSize> seen{};
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    Thread& t = *block.lane(warp, l);
    for (unsigned k = 0; k < kWarpSize; ++k) seen[k] = std::max(seen[k], t.seen(k));
    seen[l] = t.now();  // later than all that others have seen of it
  }
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    Thread& t = *block.lane(warp, l);
    t.see(seen);
    tick(t);
  }
  fence_warp_sync(block, warp, lanes);
}

}  // namespace simt
