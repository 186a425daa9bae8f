// The memory and race checker: what is rare in an access, and what it says. The rules themselves,
// which every load and store runs through, are in access.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "access.hpp"
#include "simt/api.hpp"

namespace simt {
namespace {

constexpr std::size_t kMostReports = 3;  // of one launch: a learner fixes one at a time
const char* verb(Kind k) {
  switch (k) {
    case Kind::read:
      return "read";
    case Kind::write:
      return "write";
    case Kind::atomic:
      return "atomic";
    case Kind::volatile_read:
      return "volatile read";
    default:
      return "volatile write";
  }
}

std::string bytes(std::size_t n) { return fmt::format("{} byte{}", n, n == 1 ? "" : "s"); }

// ---- reports ------------------------------------------------------------------------------------

/// False if this launch has told of the same pair of lines already, or has told enough.
bool worth_telling(std::uint32_t pc_a, std::uint32_t pc_b) {
  const OutOfSight guard;
  const auto pair = std::minmax(pc_a, pc_b);
  auto& told = engine.reported;
  const std::pair<std::uint32_t, std::uint32_t> key(pair.first, pair.second);
  if (std::find(told.begin(), told.end(), key) != told.end()) return false;
  told.push_back(key);
  if (engine.reports.size() < kMostReports) return true;
  ++engine.suppressed;
  return false;
}

void file_report(ReportKind kind, const SourceLine& where, std::string text) {
  Report report;
  report.kind = kind;
  if (engine.launch != nullptr) report.kernel = engine.launch->kernel;
  report.file = where.file;
  report.line = where.line;
  report.text = std::move(text);
  engine.reports.push_back(std::move(report));
}

/// `x += v` is two instructions on one line, and so two races of one mistake.
bool lines_told(const SourceLine& a, const SourceLine& b) {
  const std::pair<std::string, std::string> key = std::minmax({a.text(), b.text()});
  auto& told = engine.lines_reported;
  if (std::find(told.begin(), told.end(), key) != told.end()) return true;
  told.push_back(key);
  return false;
}

std::string base_name(std::uintptr_t address) {
  const std::string name = describe_address(address);
  return name.substr(0, name.find(" (byte"));
}

/// "thread 5" if both are thread 5 of their block, and one place of memory may be meant by mistake:
/// who leaves blockIdx out of an index meets the thread of equal rank. Empty otherwise.
std::string equal_threads(const Side& earlier, const Side& now, std::uintptr_t address) {
  const std::uint32_t a = earlier.access.thread, b = now.access.thread;
  if (block_of(a) == block_of(b) || rank_of(a) != rank_of(b)) return "";
  const Allocation* memory = owner_of(address);
  const bool is_first = memory != nullptr && address == memory->name_origin;
  if (is_first && rank_of(a) > 0) return "";  // the first element is not this thread's: it is meant
  const std::string name = thread_name(a);
  return name.substr(name.find("thread"));
}

std::string race_hint(const Side& earlier, const Side& now, const Thread& t, std::uintptr_t address,
                      const SourceLine& a, const SourceLine& b) {
  const bool same_block = block_of(earlier.access.thread) == block_of(now.access.thread);
  const bool same_warp = warp_of(earlier.access.thread) == warp_of(now.access.thread);
  const bool same_line = a.file == b.file && a.line == b.line;
  const bool one_atomic = is_atomic(earlier.kind) != is_atomic(now.kind);
  const std::string x = base_name(address);
  if (is_atomic(earlier.kind) && is_atomic(now.kind)) {
    return "An atomic function with _block is atomic only among the threads of one block: use the\n"
           "  one without _block.";
  }
  if (one_atomic) {
    const Kind plain = is_atomic(earlier.kind) ? now.kind : earlier.kind;
    if (is_shared(reinterpret_cast<const void*>(address))) {
      return plain == Kind::read
                 ? "No __syncthreads() lies between the atomics and this read: some threads have "
                   "yet "
                   "to add."
                 : "No __syncthreads() lies between the first values and the atomics: some threads "
                   "add\n  before others have set the start value.";
    }
    if (plain == Kind::read) {
      return fmt::format(
          "The atomic may change {} before, after or between other threads' accesses, so this\n"
          "  read finds any of their values. Use the value that the atomic function returns, or\n"
          "  read when nobody adds any more (after a barrier, or in the next kernel).",
          x);
    }
    return fmt::format(
        "A plain write beside atomics loses what they did. To give {} its first value, do it "
        "before\n"
        "  the launch (cudaMemset); to change it, use an atomic function here too.",
        x);
  }
  if (lacks_acquire_fence(earlier.access, t)) {
    return "The writer has a __threadfence(), the reader has none: it needs one between the "
           "atomic\n"
           "  that told it the data is ready and this access.";
  }
  const std::string equal = equal_threads(earlier, now, address);
  const std::string both_are_equal =
      equal.empty()
          ? ""
          : fmt::format("Both are {} of their block: is blockIdx missing in the index?", equal);
  if (writes(earlier.kind) && writes(now.kind) && same_line) {
    if (!equal.empty()) {
      return fmt::format(
          "{0}\n  If both mean {1}, the last one wins. To add up, use an atomic function.",
          both_are_equal, x);
    }
    return fmt::format(
        "Both threads write {} at this line, and the last one wins.\n"
        "  Should each have an element of its own? Work out the index for both of them. Should "
        "one\n"
        "  write for all? Is `if (threadIdx.x == 0)` missing? To add up, use an atomic function.",
        x);
  }
  std::string missing;
  if (same_line && !is_shared(reinterpret_cast<const void*>(address))) {
    const std::string steps = fmt::format(
        "Reading {0}, changing the value and writing it back are separate steps: two threads can\n"
        "  read the same old value, and one update is lost. If both mean {0}, use an atomic\n"
        "  function: atomicAdd(&{0}, ...).",
        x);
    if (equal.empty()) return steps + " If not, give each thread an index of its own.";
    return both_are_equal + "\n  " + steps;
  }
  if (!same_block) {
    missing =
        "Nothing orders the blocks of one kernel. Use atomics, or split the work into two "
        "kernels;\n"
        "  if an atomic flag or counter says that the data is ready, a __threadfence() is missing\n"
        "  before it in the writer and after it in the reader.";
  } else if (!same_warp) {
    missing = "Two warps of one block, and no __syncthreads() lies between the two accesses.";
  } else {
    missing =
        "Two lanes of one warp, and no __syncwarp() or __syncthreads() lies between the two\n"
        "  accesses. Lanes do not run in step.";
  }
  if (same_line) {
    missing += fmt::format(
        "\n  (If both threads mean to change {}, one update is lost: use an atomic function.)", x);
  }
  if (!equal.empty()) missing += fmt::format("\n  ({})", both_are_equal);
  if (t.last_collective != nullptr && same_block) {
    missing += fmt::format("\n  ({} exchanges values, but orders no memory.)", t.last_collective);
  }
  return missing;
}

void report_race(Side earlier, Side now, std::uintptr_t address, const Thread& t) {
  report_pair(earlier.access.pc, now.access.pc,
              [&](const SourceLine& earlier_line, const SourceLine& now_line) {
                return fmt::format(
                    "DATA RACE in kernel {} on {}\n  {:<6} at {} by {}\n  {:<6} at {} by {}\n  {}",
                    engine.launch->kernel, describe_address(address), verb(now.kind),
                    now_line.text(), thread_name(now.access.thread), verb(earlier.kind),
                    earlier_line.text(), thread_name(earlier.access.thread),
                    race_hint(earlier, now, t, address, earlier_line, now_line));
              });
}

std::string shared_bounds_hint(const Allocation& a, const Thread& t) {
  const bool dynamic = &a == t.block->dynamic;
  return fmt::format(
      "Each block has its own {}: is the index one within the block, such as threadIdx.x, and is\n"
      "  there room for the largest block?{}",
      a.name.empty() ? "shared memory" : a.name,
      dynamic ? fmt::format(" The launch gives it {}, the third number in <<<>>>.", bytes(a.size))
              : "");
}

std::string bounds_hint(std::uintptr_t address, bool is_write, const Thread& t) {
  const Allocation* a = owner_of(address);
  if (a == nullptr) a = variable_near(address);
  if (a == nullptr && address - arena.begin >= arena.size) {
    const char* const array = t.block->without_memory;
    if (address < kSharedOptIn && array != nullptr) {
      return fmt::format(
          "{0} is extern __shared__, and this launch gives it no memory: <<<grid, block, "
          "bytes>>>.\n"
          "  Where you cannot change the launch, give {0} a fixed size, and leave out extern.",
          array);
    }
    return address < 4096 ? "Was the memory allocated, and the pointer passed to the kernel?"
                          : "A kernel reaches device memory only: cudaMalloc, cudaMemcpy the data "
                            "there,\n  and pass the device pointer.";
  }
  if (a == nullptr) a = nearest_allocation(address);
  if (a != nullptr && a->space == Space::constant && is_write) {
    return "A kernel cannot write a __constant__ variable.";
  }
  if (a != nullptr && a->space == Space::shared) return shared_bounds_hint(*a, t);
  if (a != nullptr && address < a->name_origin) {
    return "The index is below 0 here. The first element has no left neighbour: what is i - 1 for\n"
           "  i = 0?";
  }
  return "Is `if (i < n)` missing or off by one? The last block usually has more threads than "
         "there\n"
         "  are elements left.";
}

std::string other_devices_memory(const Allocation& a, std::uintptr_t address, std::size_t size,
                                 Kind kind, const void* caller, const Thread& t) {
  const int mine = engine.placement->device, owner = a.owner;
  const std::string try_peers =
      peer_access() ? fmt::format(
                          "\n  If device {0} is meant to reach into device {1}: "
                          "cudaDeviceEnablePeerAccess({1}, 0)\n  while device {0} is current.",
                          mine, owner)
                    : "\n  These devices cannot have peer access: copy with cudaMemcpyPeer.";
  return fmt::format(
      "MEMORY OF ANOTHER DEVICE in kernel {}: {} of {} at {}\n  at {} by {}\n"
      "  {} belongs to device {} (allocated at {}), and the kernel runs on device {}.\n"
      "  Call cudaSetDevice({}) before cudaMalloc, or cudaSetDevice({}) before the launch.{}",
      engine.launch->kernel, verb(kind), bytes(size), describe_address(address),
      source_line(caller).text(), thread_name(t), base_name(address), owner,
      source_line(a.allocated_by).text(), mine, mine, owner, try_peers);
}

}  // namespace

void stop_illegal(std::uintptr_t address, std::size_t size, Kind kind, const void* caller) {
  const Thread& t = *engine.current;
  on_host_stack([&] {
    const Allocation* a = owner_of(address);
    const bool freed = a != nullptr && !a->live;
    if (a != nullptr && a->live && address + size <= a->end()) {
      fail_launch(ReportKind::out_of_bounds, cudaErrorIllegalAddress,
                  other_devices_memory(*a, address, size, kind, caller, t), caller);
      return;
    }
    const std::string text = fmt::format(
        "{} in kernel {}: {} of {} at {}{}\n  at {} by {}\n  {}",
        freed ? "USE AFTER FREE" : "OUT OF BOUNDS", engine.launch->kernel, verb(kind), bytes(size),
        freed ? "freed memory, " : "", describe_address(address), source_line(caller).text(),
        thread_name(t),
        freed ? "The memory was given back with cudaFree before or while the kernel used it."
              : bounds_hint(address, writes(kind), t));
    fail_launch(freed ? ReportKind::use_after_free : ReportKind::out_of_bounds,
                cudaErrorIllegalAddress, text, caller);
  });
  std::abort();
}

namespace {}  // namespace

void stop_misaligned(std::uintptr_t address, std::size_t size, Kind kind, const void* caller) {
  const Thread& t = *engine.current;
  on_host_stack([&] {
    const std::string text = fmt::format(
        "MISALIGNED ACCESS in kernel {}: {} of {} bytes at {}\n  at {} by {}\n  An access of {} "
        "bytes needs an address that is a multiple of {}; this one is {} past one.\n  Treat "
        "the elements before the first aligned address one by one.",
        engine.launch->kernel, verb(kind), size, describe_address(address),
        source_line(caller).text(), thread_name(t), size, size, bytes(address % size));
    fail_launch(ReportKind::misaligned, cudaErrorMisalignedAddress, text, caller);
  });
  std::abort();
}

namespace {}  // namespace

void report_uninitialised(std::uintptr_t address, Kind kind, const void* caller) {
  const std::uint32_t pc = pc_of(caller);
  if (!worth_telling(pc, pc)) return;
  const Thread& t = *engine.current;
  on_host_stack([&] {
    const Allocation* a = owner_of(address);
    const bool shared = a != nullptr && a->space == Space::shared;
    const SourceLine where = source_line(caller);
    const std::string hint =
        shared
            ? fmt::format(
                  "Nothing has written it in this block of {} threads. Shared memory starts "
                  "undefined: every\n  element that is read must be written first, also by the "
                  "threads that have no input. (Is the\n  index meant for a larger block? Or has "
                  "it blockIdx in it, which leaves elements out?)",
                  t.block->threads.size())
            : "Nothing has written it since cudaMalloc, which leaves memory undefined. Give it "
              "its first\n  value before the launch: cudaMemset or cudaMemcpy.";
    file_report(ReportKind::uninitialised, where,
                fmt::format("UNINITIALISED MEMORY in kernel {}: {} of {}\n  at {} by {}\n  {}",
                            engine.launch->kernel, verb(kind), describe_address(address),
                            where.text(), thread_name(t), hint));
  });
}

namespace {

void report_host_access(std::uintptr_t address, std::size_t size, bool write, const void* caller) {
  Report report;
  report.kind = ReportKind::host_access;
  const SourceLine where = source_line(caller);
  report.file = where.file;
  report.line = where.line;
  report.text = fmt::format(
      "DEVICE POINTER USED BY THE HOST: {} of {} at {}\n  at {}\n  On a GPU this is a "
      "segmentation fault. Copy the data with cudaMemcpy.",
      write ? "write" : "read", bytes(size), describe_address(address), where.text());
  deliver(std::move(report));
}

// ---- rules that seldom count
// -----------------------------------------------------------------------

/// A block-scope atomic and an atomic of another block are no better than plain accesses.
bool scopes_clash(const Access& earlier, const Access& now) {
  return ((earlier.clock | now.clock) & kBlockScope) != 0 &&
         block_of(earlier.thread) != block_of(now.thread);
}

Kind kind_of(const Access& reader) {
  return (reader.clock & kAtomic) != 0 ? Kind::volatile_read : Kind::read;
}

}  // namespace

SuspectedWrite suspect;

// ---- compare-and-swap loops
// -------------------------------------------------------------------------

void report_read_conflict(Thread& t, std::size_t slot) {
  const std::uintptr_t address = t.recent.address[slot];
  const std::uint32_t pc = t.recent.pc[slot];
  const HeldBack& r = t.held_back[slot];
  t.recent.conflict[slot] = false;
  --t.conflicts;
  if (r.far.launch != 0) {
    const FarAccess read{t.id, 0, pc, across_launch(), FarKind::read};
    report_across(r.far, read, address, nullptr, t);
    return;
  }
  const Access read{t.id, 0, pc};
  report_race({r.other, Kind::atomic}, {read, Kind::read}, address, t);
}

namespace {

void forget_reader(Access& reader, const Thread& t, std::uint32_t pc) {
  if (reader.thread == t.id && reader.pc == pc) reader = Access{};
}

void forget_far_reader(Allocation& a, std::size_t first, std::size_t last, const Thread& t,
                       std::uint32_t pc) {
  FarCell* const cells = a.far[static_cast<unsigned>(engine.placement->device)];
  for (std::size_t i = first; cells != nullptr && i <= last; ++i) {
    FarAccess& read = cells[i].read;
    if (read.launch == across_launch() && read.thread == t.id && read.pc == pc) read = FarAccess{};
  }
}

}  // namespace

void settle_read(Thread& t, std::size_t slot, const void* expected) {
  RecentReads& r = t.recent;
  const std::uintptr_t address = r.address[slot];
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
    if (engine.across) forget_far_reader(*a, first, last, t, pc);
    if (r.conflict[slot]) --t.conflicts;
    r.conflict[slot] = false;
  } else if (r.conflict[slot]) {
    report_read_conflict(t, slot);
  }
  r.address[slot] = 0;
}

namespace {

Thread* running_thread(std::uint32_t id) {
  for (auto& block : engine.resident) {
    if (block->linear != block_of(id)) continue;
    Thread& t = block->threads[rank_of(id)];
    return t.state == State::done ? nullptr : &t;
  }
  return nullptr;
}

/// A plain read and an atomic that nothing orders: held back if the reader may still be in a
/// compare-and-swap loop.
bool hold_back(const Access& reader, std::uintptr_t address, const Access& atomic) {
  Thread* t = running_thread(reader.thread);
  if (t == nullptr) return false;
  RecentReads& r = t->recent;
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    const std::uintptr_t begin = r.address[slot];
    if (begin == 0 || address < begin || address >= begin + r.size[slot]) continue;
    if (!r.conflict[slot]) {
      r.conflict[slot] = true;
      t->held_back[slot] = {atomic, FarAccess{}};
      ++t->conflicts;
    }
    return true;
  }
  return false;
}

FarKind far_kind(Kind kind) {
  switch (kind) {
    case Kind::read:
      return FarKind::read;
    case Kind::write:
      return FarKind::write;
    case Kind::atomic:
      return FarKind::atomic;
    case Kind::volatile_read:
      return FarKind::atomic_read;
    default:
      return FarKind::atomic_write;
  }
}

}  // namespace

void check_far(Allocation& a, std::uintptr_t address, std::size_t size, Kind kind, Scope scope,
               const char* function, const void* caller, Thread& t) {
  const OutOfSight guard;
  const bool has_cells =
      a.space == Space::device || a.space == Space::pinned || a.space == Space::managed;
  if (!has_cells || (engine.memory_of_several >> a.owner & 1) == 0) return;
  const FarAccess now{t.id, t.now(), pc_of(caller), across_launch(), far_kind(kind)};
  check_across(a, address, size, now, scope, function, t);
}

namespace {

/// True once the write is to be judged later, by the value it leaves.
bool suspect_write(const Access& earlier, const Access& me, std::uintptr_t address,
                   std::size_t size, Thread& t) {
  if (size > suspect.old.size()) return false;
  if (suspect.pending) return true;  // the first granule of the same access decides
  suspect.pending = true;
  suspect.address = address;
  suspect.size = size;
  std::memcpy(suspect.old.data(), reinterpret_cast<const void*>(address), size);
  suspect.earlier = earlier;
  suspect.now = me;
  suspect.thread = &t;
  return true;
}

void judge_readers(const Cell& cell, const Access& me, Kind kind, std::uintptr_t address,
                   Thread& t) {
  for (const Access* reader : {&cell.last_read, &cell.other_thread, &cell.other_warp}) {
    if (!conflicts(*reader, t)) continue;
    if (is_atomic(kind)) {
      if ((reader->clock & kAtomic) != 0 || hold_back(*reader, address, me)) continue;
    }
    report_race({*reader, kind_of(*reader)}, {me, kind}, address, t);
    return;
  }
}

}  // namespace

void judge_read(const Cell& cell, std::uintptr_t address, Thread& t, const Now& now) {
  const Access me = record(t, now);
  if (conflicts(cell.write, t)) report_race({cell.write, Kind::write}, {me, now.kind}, address, t);
  if (now.kind == Kind::read && conflicts(cell.atomic, t) && !hold_back(me, address, cell.atomic)) {
    report_race({cell.atomic, Kind::atomic}, {me, now.kind}, address, t);
  }
}

void judge_write(const Cell& cell, std::uintptr_t address, Thread& t, const Now& now) {
  const Access me = record(t, now);
  if (conflicts(cell.write, t)) {
    const bool later =
        now.kind == Kind::write && suspect_write(cell.write, me, now.whole, now.size, t);
    if (!later) report_race({cell.write, Kind::write}, {me, now.kind}, address, t);
  }
  if (conflicts(cell.atomic, t) && (!is_atomic(now.kind) || scopes_clash(cell.atomic, me))) {
    report_race({cell.atomic, Kind::atomic}, {me, now.kind}, address, t);
  }
  judge_readers(cell, me, now.kind, address, t);
}

Allocation* check_foreign(std::uintptr_t address, std::size_t size, Kind kind, const void* caller) {
  Allocation* a = global_at(address);
  if (a != nullptr && address + size <= a->end() &&
      !(a->space == Space::constant && writes(kind))) {
    return a->space == Space::constant ? nullptr : a;
  }
  if (a == nullptr && !writes(kind) && is_read_only_data(address)) return nullptr;
  stop_illegal(address, size, kind, caller);
}

void park_for(const Allocation& a, std::uintptr_t address, std::size_t size, AccessKind kind,
              const char* name, std::uint32_t depth, const void* caller) {
  Parked what;
  what.pc = caller;
  what.name = name;
  what.address = address;
  what.size = static_cast<std::uint32_t>(size);
  what.depth = depth;
  what.kind = kind;
  what.shared = a.space == Space::shared;
  park(what);
}

void report_pair(std::uint32_t earlier_pc, std::uint32_t now_pc,
                 const std::function<std::string(const SourceLine&, const SourceLine&)>& text) {
  if (!worth_telling(earlier_pc, now_pc)) return;
  on_host_stack([&] {
    const SourceLine now_line = source_line(return_address_of(now_pc));
    const SourceLine earlier_line = source_line(return_address_of(earlier_pc));
    if (lines_told(now_line, earlier_line)) return;
    file_report(ReportKind::race, now_line, text(earlier_line, now_line));
  });
}

bool hold_back_far(Thread& t, std::uintptr_t address, const FarAccess& atomic) {
  RecentReads& r = t.recent;
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    if (r.address[slot] != address) continue;
    if (!r.conflict[slot]) {
      r.conflict[slot] = true;
      t.held_back[slot].far = atomic;
      ++t.conflicts;
    }
    return true;
  }
  return false;
}

// ---- called by the compiler's hooks
// -------------------------------------------------------------------

void check_any_access(std::uintptr_t address, std::size_t size, bool write, const void* caller) {
  if (engine.current == nullptr) {
    check_host_access(address, size, write, caller);
  } else if (!engine.out_of_sight) {
    access(address, size, write ? Kind::write : Kind::read, Scope::device, caller);
  }
}

void check_host_access(std::uintptr_t address, std::size_t size, bool write, const void* caller) {
  if (address - arena.begin >= arena.size) return;
  const Allocation* a = owner_of(address);
  const bool host_may = a != nullptr && a->live && address + size <= a->end() &&
                        (a->space == Space::managed || a->space == Space::pinned);
  if (!host_may) report_host_access(address, size, write, caller);
}

void check_volatile_access(std::uintptr_t address, std::size_t size, bool write, Scope scope,
                           const void* caller) {
  const bool in_kernel = engine.current != nullptr && !engine.out_of_sight;
  if (in_kernel && !write)
    note_spin(caller);  // before the access, which may switch threads no more
  if (!in_kernel || is_shared(reinterpret_cast<const void*>(address))) {
    check_any_access(address, size, write, caller);  // volatile orders nothing in shared memory
    return;
  }
  access(address, size, write ? Kind::volatile_write : Kind::volatile_read, scope, caller);
}

// ---- called by atomic functions
// ------------------------------------------------------------------------

namespace {
const void* atomic_caller = nullptr;  // of the atomic that has been announced but not done
}

void atomic_access(void* pointer, std::size_t size, AtomicKind kind, const AtomicCall& call,
                   const void* expected) {
  const void* const caller = call.caller;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Allocation* a = find_target(address, size, Kind::atomic, caller);
  atomic_caller = caller;
  if (a == nullptr) return;  // an atomic on a local variable
  Thread& t = *engine.current;
  if (engine.lockstep) {
    park_for(*a, address, size, AccessKind::atomic, call.name, depth_here(kDepthOfAtomic), caller);
  }
  maybe_preempt(kPreemptAtAtomic);
  checker_settle_writes();
  fence_atomic(t, address);
  settle_recent_read(t, address, kind == AtomicKind::compare_and_swap ? expected : nullptr);
  if (kind != AtomicKind::exchange && !all_initialised(*a, address, size)) {
    report_uninitialised(address, Kind::atomic, caller);
  }
  set_initialised(*a, address, size);
  if (a->space != Space::shared) t.block->barriers = 0;
  const std::uint8_t flags = kAtomic | (call.scope == Scope::block ? kBlockScope : 0);
  check_cells(*a, address, size, Kind::atomic, flags, caller, t);
  if (engine.across) check_far(*a, address, size, Kind::atomic, call.scope, call.name, caller, t);
  atomic_caller = caller;
  if (engine.tracing) trace_settle_store();
}

void atomic_done(bool changed, const AtomicValues& values) {
  if (engine.tracing) trace_atomic(*engine.current, values);
  if (changed) {
    engine.fruitless = 0;
  } else {
    note_spin(atomic_caller);
  }
}

// ---- called by the scheduler and the collectives
// -------------------------------------------------------

void checker_start_launch() {
  suspect.pending = false;
  fences_start_launch();
}

void checker_settle_writes() {
  if (!suspect.pending) return;
  suspect.pending = false;
  const void* now = reinterpret_cast<const void*>(suspect.address);
  if (std::memcmp(now, suspect.old.data(), suspect.size) == 0) {
    note("several threads write the same value without order: harmless, but is it meant?",
         return_address_of(suspect.now.pc));
    return;
  }
  report_race({suspect.earlier, Kind::write}, {suspect.now, Kind::write}, suspect.address,
              *suspect.thread);
}

void checker_end_thread(Thread& t) {
  checker_settle_writes();
  if (t.conflicts == 0) return;
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    if (t.recent.address[slot] != 0 && t.recent.conflict[slot]) report_read_conflict(t, slot);
  }
}

void checker_barrier(Block& block) {
  block.barrier_clock = ++block.clock;
  fence_barrier(block);
}

void checker_warp_sync(Block& block, unsigned warp, unsigned lanes) {
  std::array<std::uint32_t, kWarpSize> seen{};
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    Thread& t = *block.lane(warp, l);
    t.lanes_seen[l] = t.now();
    for (unsigned k = 0; k < kWarpSize; ++k) seen[k] = std::max(seen[k], t.lanes_seen[k]);
  }
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    Thread& t = *block.lane(warp, l);
    t.lanes_seen = seen;
    tick(t);
  }
  fence_warp_sync(block, warp, lanes);
}

}  // namespace simt
