// Compares the accesses of operations that may run at the same time.
#include "checker/overlap.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/early.hpp"
#include "base/program.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/fences.hpp"
#include "checker/rules.hpp"
#include "memory/allocations.hpp"
#include "memory/devices.hpp"
#include "simt/testing.hpp"

namespace simt {

bool host_is_watched = false;

namespace {

/// What the operations of one stream leave in cells. Operations of a stream are in order, so of each
/// granule the last access of each form stands for all.
struct Track {
  unsigned stream;
  std::uint32_t last;  // number of its last operation that left something
};

/// Bytes that a copy or memset reads or writes.
struct TransferredRows {
  Rows rows;
  CrossAccess access;
};

struct Overlap {
  std::deque<PastOperation> operations;  // numbered from forgotten + 1
  std::uint32_t forgotten = 0;           // all that may still come is after these
  std::vector<Track> tracks;
  std::vector<TransferredRows> transferred;

  // Of the running launch:
  unsigned own_track = 0;
  std::uint32_t number = 0;
  std::uint32_t beside = 0;  // devices (a bit for each) whose kernels may run at the same time
  std::vector<unsigned> concurrent_tracks;
  std::vector<TransferredRows> concurrent_rows;
  std::vector<std::uint32_t> flags_seen;  // operations of the host whose flags it has read

  // Of host code:
  const Placement* host = nullptr;
  Doer host_doer = Doer::host;
  std::uint32_t host_number = 0;               // what accesses of now are numbered by
  std::vector<unsigned> beside_host;           // tracks
  std::vector<std::uint32_t> host_flags_seen;  // operations whose flags it has read
};

SIMT_EARLY Overlap overlap;

// ---- operations ---------------------------------------------------------------------------------

/// True if the operation came before whoever has this clock.
bool knows(const StreamClock& clock, const Placement& past) {
  return entry(clock, past.stream) >= entry(past.clock, past.stream);
}

bool at_the_same_time(const Placement& a, const Placement& b) {
  return !knows(a.clock, b) && !knows(b.clock, a);
}

std::uint32_t add(PastOperation operation) {
  overlap.operations.push_back(std::move(operation));
  return overlap.forgotten + static_cast<std::uint32_t>(overlap.operations.size());
}

/// The track of a stream, whose last operation is now this one.
unsigned track_of(unsigned stream, std::uint32_t operation) {
  auto& tracks = overlap.tracks;
  const auto is_own = [&](const Track& t) { return t.stream == stream; };
  const auto is_free = [&](const Track& t) { return t.last <= overlap.forgotten; };
  auto it = std::find_if(tracks.begin(), tracks.end(), is_own);
  if (it == tracks.end()) it = std::find_if(tracks.begin(), tracks.end(), is_free);
  if (it == tracks.end()) it = tracks.insert(tracks.end(), Track{});
  *it = {stream, operation};
  return static_cast<unsigned>(it - tracks.begin());
}

/// The tracks with operations that may run at the same time as one of this placement.
std::vector<unsigned> tracks_beside(const Placement& here) {
  std::vector<unsigned> found;
  for (unsigned i = 0; i < overlap.tracks.size(); ++i) {
    const Track& track = overlap.tracks[i];
    const PastOperation* const last = past_operation(track.last);
    if (last == nullptr || track.stream == here.stream) continue;
    if (at_the_same_time(last->placement, here)) found.push_back(i);
  }
  return found;
}

std::uint32_t device_bit(const PastOperation& operation) {
  const bool is_host = operation.doer == Doer::host || operation.doer == Doer::host_function;
  return bit(is_host ? kEveryDevice : operation.placement.device);
}

// ---- accesses -----------------------------------------------------------------------------------

bool same_device(const CrossAccess& a, const CrossAccess& b) {
  const PastOperation &first = operation_of(a), &second = operation_of(b);
  const auto on_device = [](const PastOperation& o) { return o.doer == Doer::kernel; };
  return on_device(first) && on_device(second) && first.placement.device == second.placement.device;
}

/// True for a variable that each device has at the same address.
bool is_of_each_device(std::uintptr_t address) {
  if (owner_of(address) != nullptr) return false;
  const Allocation* a = global_at(address);
  return a != nullptr && (a->space == Space::global || a->space == Space::constant);
}

/// Where a cell keeps an access: the last one of each form is remembered.
CrossAccess& slot_of(CrossCell& cell, AccessKind kind, Scope scope) {
  const bool system = is_atomic(kind) && scope == Scope::system;
  if (kind == AccessKind::write) return cell.write;
  if (is_load(kind)) return system ? cell.system_read : cell.read;
  return system ? cell.system_write : cell.device_scope;
}

void leave(CrossCell& cell, const CrossAccess& now) {
  CrossAccess& slot = slot_of(cell, now.kind, now.scope);
  // An atomic read of device scope is the weaker of the two that share a slot.
  const bool keeps_plain = now.kind == AccessKind::relaxed_read &&
                           slot.operation == now.operation && slot.kind == AccessKind::read;
  if (!keeps_plain) slot = now;
}

/// True if these accesses at the same time are a race.
bool clash(const CrossAccess& a, const CrossAccess& b) {
  if (!writes(a.kind) && !writes(b.kind)) return false;
  if (!is_atomic(a.kind) || !is_atomic(b.kind)) return true;
  const Scope narrower = std::min(a.scope, b.scope);
  return narrower != Scope::system && (narrower == Scope::block || !same_device(a, b));
}

/// The same for two of system scope in pinned memory, if the link to it carries no atomics: a
/// device then loads, changes and stores, and what others write meanwhile is lost. Atomic loads and
/// stores alone need no more than a load and a store.
bool clash_over_link(const CrossAccess& a, const CrossAccess& b) {
  if (!is_atomic(a.kind) || !is_atomic(b.kind) || same_device(a, b)) return false;
  if (a.kind == AccessKind::relaxed_read || b.kind == AccessKind::relaxed_read) return false;
  return a.kind == AccessKind::atomic || b.kind == AccessKind::atomic;
}

/// True if a flag of one of these operations, which was read, tells of an earlier one.
bool known_by_flags(const std::vector<std::uint32_t>& seen, const CrossAccess& earlier) {
  return std::any_of(seen.begin(), seen.end(), [&](std::uint32_t number) {
    const PastOperation* const teller = past_operation(number);
    return number == earlier.operation ||
           (teller != nullptr && knows(teller->placement.clock, operation_of(earlier).placement));
  });
}

bool ordered(const CrossAccess& earlier, const Thread& t) {
  const Placement& past = operation_of(earlier).placement;
  if (!at_the_same_time(past, *engine.placement)) return true;
  if (known_by_flags(overlap.flags_seen, earlier)) return true;
  if (!fences_used()) return false;
  if (ordered_by_fences_of_launches(earlier, t)) return true;
  // What came before a launch whose fence is known is known, too.
  for (const std::uint32_t number : launches_known_by_fences(t)) {
    const PastOperation* const launch = past_operation(number);
    if (launch == nullptr || number == earlier.operation) continue;
    if (knows(launch->placement.clock, past)) return true;
  }
  return false;
}

/// True if `condition` is, for an access of the cell that still counts.
template <class Condition>
bool any_access(const CrossCell& cell, const Condition& condition) {
  for (const CrossAccess* a :
       {&cell.write, &cell.device_scope, &cell.system_write, &cell.read, &cell.system_read}) {
    if (a->operation > overlap.forgotten && condition(*a)) return true;
  }
  return false;
}

const CrossCell* cells_of(const Allocation& a, unsigned track) {
  return track < a.cross.size() ? a.cross[track] : nullptr;
}

/// A flag of the host, or of a kernel, in system scope: who reads it may read what was written before it.
bool is_flag(const CrossAccess& earlier, const CrossAccess& now) {
  return is_atomic(earlier.kind) && writes(earlier.kind) && earlier.scope == Scope::system &&
         is_atomic(now.kind) && now.scope == Scope::system && now.kind != AccessKind::relaxed_write;
}

// ---- rows of copies -----------------------------------------------------------------------------

bool differs_by_device(const CrossAccess& a, const CrossAccess& b, std::uintptr_t address) {
  return operation_of(a).placement.device != operation_of(b).placement.device &&
         is_of_each_device(address);
}

void compare_with_transfers(const Rows& rows, const CrossAccess& now, const Placement& here) {
  for (const TransferredRows& earlier : overlap.transferred) {
    if (earlier.access.operation == now.operation || !clash(earlier.access, now)) continue;
    if (!at_the_same_time(operation_of(earlier.access).placement, here)) continue;
    const std::uintptr_t common = first_common(rows, earlier.rows);
    if (common == 0 || differs_by_device(earlier.access, now, common)) continue;
    report_overlap_of_host(earlier.access, now, common);
  }
}

/// Cells must not be wider than what is compared with them.
void refine_for(Allocation& a, std::uintptr_t address, std::size_t size) {
  const unsigned shift = granule_shift_of(size | (address & 3));
  if (shift < a.granule_shift) refine_shadow(a, shift);
}

/// A row of a copy against what one track has left.
bool compare_row(const Allocation& a, unsigned track, std::uintptr_t begin, std::size_t width,
                 const CrossAccess& now, const Placement& here) {
  const CrossCell* const cells = cells_of(a, track);
  const std::size_t first = (begin - a.begin) >> a.granule_shift;
  const std::size_t last = (begin + width - 1 - a.begin) >> a.granule_shift;
  for (std::size_t i = first; i <= last; ++i) {
    const std::uintptr_t address = a.begin + (i << a.granule_shift);
    const bool found = any_access(cells[i], [&](const CrossAccess& earlier) {
      if (!clash(earlier, now) || differs_by_device(earlier, now, address)) return false;
      if (!at_the_same_time(operation_of(earlier).placement, here)) return false;
      report_overlap_of_host(earlier, now, address);
      return true;
    });
    if (found) return true;
  }
  return false;
}

void compare_with_cells(const Rows& rows, const CrossAccess& now, const Placement& here) {
  Allocation* a = owner_of(rows.begin);
  if (a == nullptr) a = global_at(rows.begin);
  if (a == nullptr || !a->live || rows.end() > a->end()) return;
  for (const unsigned track : tracks_beside(here)) {
    if (cells_of(*a, track) == nullptr) continue;
    refine_for(*a, rows.begin, rows.width | rows.pitch);
    for (std::size_t row = 0; row < rows.height; ++row) {
      if (compare_row(*a, track, rows.begin + row * rows.pitch, rows.width, now, here)) break;
    }
  }
}

}  // namespace

const PastOperation* past_operation(std::uint32_t number) {
  if (number <= overlap.forgotten) return nullptr;
  return &overlap.operations[number - overlap.forgotten - 1];
}

const PastOperation& operation_of(const CrossAccess& access) {
  return *past_operation(access.operation);
}

// ---- kernels ------------------------------------------------------------------------------------

std::uint32_t overlap_number() { return overlap.number; }

CrossCell* own_cross_cells(const Allocation& a) {
  return overlap.own_track < a.cross.size() ? a.cross[overlap.own_track] : nullptr;
}

void overlap_start_launch() {
  const ScopedIgnore guard;
  Engine& e = engine;
  Overlap& o = overlap;
  const Placement& here = *e.placement;
  o.concurrent_tracks = tracks_beside(here);
  o.concurrent_rows.clear();
  o.flags_seen.clear();
  for (const TransferredRows& t : o.transferred) {
    if (at_the_same_time(operation_of(t.access).placement, here)) o.concurrent_rows.push_back(t);
  }
  o.beside = here.still_to_run;
  for (const unsigned track : o.concurrent_tracks) {
    o.beside |= device_bit(*past_operation(o.tracks[track].last));
  }
  e.overlap = o.beside != 0 || !o.concurrent_rows.empty();
  if (!e.overlap) return;
  o.number =
      add({Doer::kernel, e.launch->kernel, e.launch->grid, e.launch->block, here, e.launch->calls});
  o.own_track = track_of(here.stream, o.number);
}

namespace {

/// A plain read met an atomic of another kernel: true if it may still turn out as the first step of
/// a compare-and-swap loop.
bool hold_back_overlap(Thread& t, std::uintptr_t address, const CrossAccess& atomic) {
  RecentReads& r = t.recent;
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    if (r.address[slot] != address) continue;
    if (!r.conflict[slot]) {
      r.conflict[slot] = true;
      t.held_back[slot] = HeldBack{{}, atomic};
      ++t.conflicts;
    }
    return true;
  }
  return false;
}

/// True if the access is a race with a copy or memset.
bool clashes_with_rows(const CrossAccess& now, std::uintptr_t address, std::size_t size,
                       const char* function, const Thread& t) {
  for (const TransferredRows& earlier : overlap.concurrent_rows) {
    const std::uintptr_t common = first_common(earlier.rows, address, address + size);
    if (common == address + size || !clash(earlier.access, now)) continue;
    if (differs_by_device(earlier.access, now, common)) continue;
    report_overlap_of_kernel(earlier.access, now, common, function, t);
    return true;
  }
  return false;
}

/// True if other operations at the same time reach the allocation.
bool is_reached_by_others(const Allocation& a) {
  const std::uint32_t own = bit(engine.placement->device);
  if ((overlap.beside & own) != 0) return true;
  const bool is_variable = a.space == Space::global;
  return !is_variable && overlap.beside != 0 && (memory_of_several() >> a.owner & 1) != 0;
}

}  // namespace

void check_overlap(Allocation& a, std::uintptr_t address, std::size_t size, AccessKind kind,
                   Scope scope, const char* function, const void* caller, Thread& t) {
  const ScopedIgnore guard;
  if (a.space == Space::shared || a.space == Space::constant) return;
  if (writes(kind) && kind != AccessKind::atomic) engine.has_effects = true;
  const CrossAccess now{t.id, t.now(), pc_of(caller), overlap.number, kind, scope};
  bool found = clashes_with_rows(now, address, size, function, t);
  if (!is_reached_by_others(a)) return;
  const bool link_has_atomics = a.space != Space::pinned || host_atomics();
  CrossCell* const mine = cross_cells(a, overlap.own_track);
  const std::size_t first = (address - a.begin) >> a.granule_shift;
  const std::size_t last = (address + size - 1 - a.begin) >> a.granule_shift;
  const auto compare = [&](const CrossAccess& earlier, std::uintptr_t place) {
    if (is_flag(earlier, now) && !same_device(earlier, now)) {
      const Doer doer = operation_of(earlier).doer;
      if (doer != Doer::kernel) overlap.flags_seen.push_back(earlier.operation);
    }
    const bool is_race =
        clash(now, earlier) || (!link_has_atomics && clash_over_link(earlier, now));
    if (!is_race || ordered(earlier, t)) return false;
    if (a.space == Space::global && !same_device(earlier, now)) return false;
    const bool may_begin_cas = kind == AccessKind::read && is_atomic(earlier.kind);
    if (may_begin_cas && hold_back_overlap(t, address, earlier)) return true;
    report_overlap_of_kernel(earlier, now, place, function, t);
    return true;
  };
  for (std::size_t i = first; i <= last; ++i) {
    leave(mine[i], now);
    for (const unsigned track : overlap.concurrent_tracks) {
      const CrossCell* const cells = cells_of(a, track);
      if (cells == nullptr || found) continue;
      const std::uintptr_t place = a.begin + (i << a.granule_shift);
      found = any_access(cells[i], [&](const CrossAccess& e) { return compare(e, place); });
    }
  }
}

// ---- copies and memsets -------------------------------------------------------------------------

void overlap_transfer(const Transfer& transfer, const Placement& placement) {
  const ScopedIgnore guard;
  const std::uint32_t number =
      add({Doer::call, transfer.function, {}, {}, placement, {transfer.caller}});
  const auto compare = [&](const Rows& rows, AccessKind kind) {
    const CrossAccess now{0, 0, pc_of(transfer.caller), number, kind, Scope::device};
    compare_with_transfers(rows, now, placement);
    compare_with_cells(rows, now, placement);
    overlap.transferred.push_back({rows, now});
  };
  for (const Rows& rows : transfer.writes) compare(rows, AccessKind::write);
  for (const Rows& rows : transfer.reads) compare(rows, AccessKind::read);
}

// ---- the host's own code ------------------------------------------------------------------------

void overlap_watch_host(const Placement* host, Doer doer) {
  host_is_watched = host != nullptr;
  overlap.host = host;
  overlap.host_doer = doer;
  overlap.host_number = 0;
}

namespace {

/// The number of what host code does now. Between two calls that change what it knows it is one
/// operation.
std::uint32_t number_of_host() {
  if (past_operation(overlap.host_number) == nullptr) {
    overlap.host_number = add({overlap.host_doer, "", {}, {}, *overlap.host, {}});
    overlap.beside_host = tracks_beside(*overlap.host);
  }
  return overlap.host_number;
}

/// The memory that both host and kernels reach at an address; null if there is none.
Allocation* common_memory(std::uintptr_t address, std::size_t size) {
  Allocation* a = owner_of(address);
  if (a == nullptr && address - arena.begin >= arena.size) a = global_at(address);
  const bool is_common = a != nullptr && a->live && address + size <= a->end() &&
                         (a->space == Space::managed || a->space == Space::pinned);
  return is_common ? a : nullptr;
}

bool host_is_after(const CrossAccess& earlier) {
  return !at_the_same_time(operation_of(earlier).placement, *overlap.host) ||
         known_by_flags(overlap.host_flags_seen, earlier);
}

}  // namespace

void overlap_host_access(std::uintptr_t address, std::size_t size, AccessKind kind,
                         const void* caller) {
  if (accesses_are_ignored) return;  // of this library's containers
  const ScopedIgnore guard;
  CrossAccess now{0, 0, pc_of(caller), 0, kind, Scope::system};
  const auto report = [&](const CrossAccess& earlier, std::uintptr_t place) {
    now.operation = number_of_host();
    report_overlap_of_host(earlier, now, place);
  };
  for (const TransferredRows& earlier : overlap.transferred) {
    const std::uintptr_t common = first_common(earlier.rows, address, address + size);
    if (common == address + size || (!writes(kind) && !writes(earlier.access.kind))) continue;
    if (!host_is_after(earlier.access)) return report(earlier.access, common);
  }
  Allocation* const a = common_memory(address, size);
  if (a == nullptr) return;
  now.operation = number_of_host();
  refine_for(*a, address, size);
  const unsigned own = track_of(overlap.host->stream, now.operation);
  CrossCell* const mine = cross_cells(*a, own);
  const std::size_t first = (address - a->begin) >> a->granule_shift;
  const std::size_t last = (address + size - 1 - a->begin) >> a->granule_shift;
  bool found = false;
  for (std::size_t i = first; i <= last; ++i) {
    leave(mine[i], now);
    for (const unsigned track : overlap.beside_host) {
      const CrossCell* const cells = cells_of(*a, track);
      if (cells == nullptr || found) continue;
      found = any_access(cells[i], [&](const CrossAccess& earlier) {
        if (is_flag(earlier, now)) overlap.host_flags_seen.push_back(earlier.operation);
        if (!clash(earlier, now) || host_is_after(earlier)) return false;
        report(earlier, a->begin + (i << a->granule_shift));
        return true;
      });
    }
  }
}

// ---- forgetting ---------------------------------------------------------------------------------

void overlap_forget(const StreamClock& known) {
  const ScopedIgnore guard;
  auto& operations = overlap.operations;
  while (!operations.empty() && knows(known, operations.front().placement)) {
    operations.pop_front();
    ++overlap.forgotten;
  }
  auto& rows = overlap.transferred;
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [&](const TransferredRows& r) {
                              const PastOperation* o = past_operation(r.access.operation);
                              return o == nullptr || knows(known, o->placement);
                            }),
             rows.end());
  if (!operations.empty()) return;
  overlap.host_flags_seen.clear();
  fences_forget();
  forget_overlaps_told();
}

}  // namespace simt
