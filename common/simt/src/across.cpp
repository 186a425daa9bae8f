// Races of kernels on different devices: nothing but the host, events and streams orders two
// launches, and what both reach (pinned, managed and peer memory) is touched by both at once unless
// something does.
//
// A kernel runs from its first thread to its last here, so each one meets what earlier launches
// have left behind: for each granule and device the last access of each form. The clocks of
// streams.cpp say which of these launches came before.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "engine.hpp"

namespace simt {
namespace {

/// A launch of which accesses are remembered.
struct PastLaunch {
  const char* kernel;
  dim3 grid, block;
  Placement placement;
};
std::vector<PastLaunch> launches;  // a FarAccess has the number of its launch, counted from 1

/// Of each stream: the number of its last launch that has run, 0 if there is none.
std::vector<std::uint32_t> last_of_stream;

std::uint32_t entry(const Clock& clock, unsigned stream) {
  return stream < clock.size() ? clock[stream] : 0;
}

bool came_before(const PastLaunch& past, const Clock& clock) {
  return entry(clock, past.placement.stream) >= entry(past.placement.clock, past.placement.stream);
}

const PastLaunch& launch_of(const FarAccess& access) { return launches[access.launch - 1]; }

/// What two accesses have to do with each other is a matter of their forms.
enum class Form { read, write, narrow, system_read, system_write };

Form form_of(FarKind kind, Scope scope) {
  const bool system = scope == Scope::system;
  switch (kind) {
    case FarKind::read:
      return Form::read;
    case FarKind::write:
      return Form::write;
    case FarKind::atomic_read:  // alone among the writes of another device it is a plain read
      return system ? Form::system_read : Form::read;
    default:
      return system ? Form::system_write : Form::narrow;
  }
}

FarAccess& place_in(FarCell& cell, Form form) {
  switch (form) {
    case Form::read:
      return cell.read;
    case Form::write:
      return cell.write;
    case Form::narrow:
      return cell.narrow;
    case Form::system_read:
      return cell.system_read;
    default:
      return cell.system_write;
  }
}

bool is_system(Form form) { return form == Form::system_read || form == Form::system_write; }
bool changes(Form form) { return form != Form::read && form != Form::system_read; }

/// True if accesses of these forms by two devices at the same time are a race.
bool clash(Form a, Form b) {
  if (is_system(a) && is_system(b)) return false;
  return changes(a) || changes(b);
}

/// The same for two of system scope in pinned memory, if the link to it carries no atomics: a
/// device then loads, changes and stores, and what the other one writes meanwhile is lost. Atomic
/// loads and stores alone need no more than a load and a store.
bool clash_over_link(const FarAccess& a, const FarAccess& b) {
  if (!a.system || !b.system) return false;
  if (a.kind == FarKind::atomic_read || b.kind == FarKind::atomic_read) return false;
  return a.kind == FarKind::atomic || b.kind == FarKind::atomic;
}

bool ordered(const FarAccess& earlier, const Thread& t) {
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

const char* verb(FarKind kind) {
  switch (kind) {
    case FarKind::read:
      return "read";
    case FarKind::write:
      return "write";
    case FarKind::atomic_read:
      return "atomic read";
    case FarKind::atomic_write:
      return "atomic write";
    default:
      return "atomic";
  }
}

bool is_atomic(FarKind kind) { return kind != FarKind::read && kind != FarKind::write; }

constexpr const char* kNoAtomicsOverLink =
    "This is pinned memory of the host, and the link to it carries no atomics:\n"
    "  cudaDevAttrHostNativeAtomicSupported is 0, as with PCIe. A device loads, adds and stores "
    "there.\n"
    "  Take managed memory (cudaMallocManaged), or memory of a device whose peers reach it.";

std::string hint(const FarAccess& earlier, const FarAccess& now, const char* function,
                 const Thread& t) {
  const int first = launch_of(earlier).placement.device;
  if (is_atomic(earlier.kind) && is_atomic(now.kind)) {
    if (earlier.system && now.system) return kNoAtomicsOverLink;
    const bool is_cuda = function != nullptr && std::strncmp(function, "atomic", 6) == 0;
    const std::string base = is_cuda ? std::string(function).substr(0, std::strcspn(function, "_"))
                                     : std::string("atomicAdd");
    return fmt::format(
        "{0}() is atomic among the threads of one device, {0}_system() among all.\n"
        "  (cuda::atomic_ref: thread_scope_device and thread_scope_system, the default.)",
        base);
  }
  if (fences_used() && lacks_system_fence(earlier, t)) {
    return "A __threadfence() orders the memory of one device's threads. Between devices both "
           "sides\n"
           "  need __threadfence_system(): one before the atomic that says the data is ready, the\n"
           "  other after the atomic that has seen it.";
  }
  const std::string order = fmt::format(
      "Nothing orders the two kernels: both devices may run at the same time. Let the host wait\n"
      "  for device {0} (cudaDeviceSynchronize while it is current) before the second launch, or\n"
      "  the stream: cudaEventRecord behind the first kernel, cudaStreamWaitEvent before the "
      "second.",
      first);
  if (is_atomic(earlier.kind) != is_atomic(now.kind)) {
    return order + "\n  (Only both accesses atomic, of system scope, could do without.)";
  }
  return order + "\n  (To add up while both run: atomicAdd_system().)";
}

std::string who(const FarAccess& access) {
  const PastLaunch& launch = launch_of(access);
  return fmt::format("{} in kernel {}",
                     thread_name(access.thread, launch.grid, launch.block, launch.placement.device),
                     launch.kernel);
}

}  // namespace

// ---- called by the scheduler --------------------------------------------------------------------

void across_start_launch() {
  Engine& e = engine;
  e.across = several_devices();
  if (!e.across) return;
  const Placement& here = *e.placement;
  e.memory_of_several = memory_of_several();
  e.concurrent = 0;
  for (const std::uint32_t number : last_of_stream) {
    if (number == 0 || came_before(launches[number - 1], here.clock)) continue;
    e.concurrent |= 1u << launches[number - 1].placement.device;
  }
  e.concurrent &= ~(1u << here.device);
  launches.push_back({e.launch->kernel, e.launch->grid, e.launch->block, here});
  if (last_of_stream.size() <= here.stream) last_of_stream.resize(here.stream + 1);
  last_of_stream[here.stream] = across_launch();
}

std::uint32_t across_launch() { return static_cast<std::uint32_t>(launches.size()); }

// ---- called by the checker ----------------------------------------------------------------------

void check_across(Allocation& a, std::uintptr_t address, std::size_t size, FarAccess now,
                  Scope scope, const char* function, Thread& t) {
  const int device = engine.placement->device;
  const Form form = form_of(now.kind, scope);
  now.system = is_system(form);
  const bool link_has_atomics = a.space != Space::pinned || host_atomics();
  FarCell* const mine = far_cells(a, device);
  const std::size_t first = (address - a.begin) >> a.granule_shift;
  const std::size_t last = (address + size - 1 - a.begin) >> a.granule_shift;
  bool found = false;
  for (std::size_t i = first; i <= last; ++i) {
    place_in(mine[i], form) = now;
    for (int other = 0; other < kMostDevices && !found; ++other) {
      if ((engine.concurrent >> other & 1) == 0) continue;
      FarCell* const cells = a.far[static_cast<unsigned>(other)];
      if (cells == nullptr) continue;
      for (const Form theirs :
           {Form::write, Form::narrow, Form::system_write, Form::read, Form::system_read}) {
        const FarAccess& earlier = place_in(cells[i], theirs);
        if (earlier.launch == 0) continue;
        const bool is_race =
            clash(form, theirs) || (!link_has_atomics && clash_over_link(earlier, now));
        if (!is_race || ordered(earlier, t)) continue;
        found = true;
        const bool may_begin_cas = now.kind == FarKind::read && is_atomic(earlier.kind);
        if (may_begin_cas && hold_back_far(t, address, earlier)) break;
        report_across(earlier, now, a.begin + (i << a.granule_shift), function, t);
        break;
      }
    }
  }
}

void report_across(const FarAccess& earlier, const FarAccess& now, std::uintptr_t address,
                   const char* function, const Thread& t) {
  report_pair(earlier.pc, now.pc, [&](const SourceLine& earlier_line, const SourceLine& now_line) {
    return fmt::format(
        "DATA RACE of two devices on {}\n  {:<6} at {} by {}\n  {:<6} at {} by {}\n  {}",
        describe_address(address), verb(now.kind), now_line.text(), who(now), verb(earlier.kind),
        earlier_line.text(), who(earlier), hint(earlier, now, function, t));
  });
}

}  // namespace simt
