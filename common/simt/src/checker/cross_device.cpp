#include "checker/cross_device.hpp"

#include <array>
#include <vector>

#include "base/early.hpp"
#include "base/program.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/fences.hpp"
#include "memory/devices.hpp"
#include "simt/testing.hpp"

namespace simt {
namespace {

SIMT_EARLY std::vector<PastLaunch>
    launches;  // a CrossAccess has the number of its launch, counted from 1

/// Of each stream: the number of its last launch that has run, 0 if there is none.
SIMT_EARLY std::vector<std::uint32_t> last_of_stream;

std::uint32_t entry(const StreamClock& clock, unsigned stream) {
  return stream < clock.size() ? clock[stream] : 0;
}

bool came_before(const PastLaunch& past, const StreamClock& clock) {
  return entry(clock, past.placement.stream) >= entry(past.placement.clock, past.placement.stream);
}

/// Of the running launch: a bit for each device whose memory several reach, and for each device with
/// a launch that is not ordered before.
std::uint32_t shared_memory = 0, concurrent = 0;

/// Where a cell keeps an access: the last one of each form is remembered.
CrossAccess& slot_of(CrossCell& cell, AccessKind kind, bool system) {
  if (kind == AccessKind::write) return cell.write;
  // Alone among the writes of another device, an atomic read of device scope is a plain one.
  if (is_load(kind)) return system ? cell.system_read : cell.read;
  return system ? cell.system_write : cell.device_scope;
}

/// True if these accesses of two devices at the same time are a race.
bool clash(const CrossAccess& a, const CrossAccess& b) {
  if (a.system && b.system) return false;
  return writes(a.kind) || writes(b.kind);
}

/// The same for two of system scope in pinned memory, if the link to it carries no atomics: a
/// device then loads, changes and stores, and what the other one writes meanwhile is lost. Atomic
/// loads and stores alone need no more than a load and a store.
bool clash_over_link(const CrossAccess& a, const CrossAccess& b) {
  if (!a.system || !b.system) return false;
  if (a.kind == AccessKind::relaxed_read || b.kind == AccessKind::relaxed_read) return false;
  return a.kind == AccessKind::atomic || b.kind == AccessKind::atomic;
}

bool ordered(const CrossAccess& earlier, const Thread& t) {
  const PastLaunch& past = launch_of(earlier);
  if (came_before(past, engine.placement->clock)) return true;
  if (!fences_used()) return false;
  if (ordered_by_system_fences(earlier, t)) return true;
  // What came before a launch whose fence is known is known, too.
  for (const std::uint32_t launch : launches_known_by_fences(t)) {
    const bool is_before = launch != earlier.launch;
    if (is_before && came_before(past, launches[launch - 1].placement.clock)) return true;
  }
  return false;
}

}  // namespace

const PastLaunch& launch_of(const CrossAccess& access) { return launches[access.launch - 1]; }

void cross_device_start_launch() {
  Engine& e = engine;
  e.cross_device = several_devices();
  if (!e.cross_device) return;
  const Placement& here = *e.placement;
  shared_memory = memory_of_several();
  concurrent = 0;
  for (const std::uint32_t number : last_of_stream) {
    if (number == 0 || came_before(launches[number - 1], here.clock)) continue;
    concurrent |= 1u << launches[number - 1].placement.device;
  }
  concurrent &= ~(1u << here.device);
  launches.push_back({e.launch->kernel, e.launch->grid, e.launch->block, here});
  if (last_of_stream.size() <= here.stream) last_of_stream.resize(here.stream + 1);
  last_of_stream[here.stream] = cross_device_launch();
}

std::uint32_t cross_device_launch() { return static_cast<std::uint32_t>(launches.size()); }

bool hold_back_cross_device(Thread& t, std::uintptr_t address, const CrossAccess& atomic) {
  RecentReads& r = t.recent;
  for (std::size_t slot = 0; slot < kRecentReads; ++slot) {
    if (r.address[slot] != address) continue;
    if (!r.conflict[slot]) {
      r.conflict[slot] = true;
      t.held_back[slot].cross = atomic;
      ++t.conflicts;
    }
    return true;
  }
  return false;
}

void check_cross_device(Allocation& a, std::uintptr_t address, std::size_t size, AccessKind kind,
                        Scope scope, const char* function, const void* caller, Thread& t) {
  const ScopedIgnore guard;
  const bool has_cells =
      a.space == Space::device || a.space == Space::pinned || a.space == Space::managed;
  if (!has_cells || (shared_memory >> a.owner & 1) == 0) return;
  CrossAccess now{t.id, t.now(), pc_of(caller), cross_device_launch(), kind};
  now.system = scope == Scope::system && is_atomic(kind);
  const bool link_has_atomics = a.space != Space::pinned || host_atomics();
  CrossCell* const mine = cross_cells(a, engine.placement->device);
  const std::size_t first = (address - a.begin) >> a.granule_shift;
  const std::size_t last = (address + size - 1 - a.begin) >> a.granule_shift;
  bool found = false;
  for (std::size_t i = first; i <= last; ++i) {
    slot_of(mine[i], kind, now.system) = now;
    for (int other = 0; other < kMostDevices && !found; ++other) {
      if ((concurrent >> other & 1) == 0) continue;
      CrossCell* const cells = a.cross[static_cast<unsigned>(other)];
      if (cells == nullptr) continue;
      const CrossCell& cell = cells[i];
      for (const CrossAccess* earlier :
           {&cell.write, &cell.device_scope, &cell.system_write, &cell.read, &cell.system_read}) {
        if (earlier->launch == 0) continue;
        const bool is_race =
            clash(now, *earlier) || (!link_has_atomics && clash_over_link(*earlier, now));
        if (!is_race || ordered(*earlier, t)) continue;
        found = true;
        const bool may_begin_cas = kind == AccessKind::read && is_atomic(earlier->kind);
        if (may_begin_cas && hold_back_cross_device(t, address, *earlier)) break;
        report_cross_device(*earlier, now, a.begin + (i << a.granule_shift), function, t);
        break;
      }
    }
  }
}

}  // namespace simt
