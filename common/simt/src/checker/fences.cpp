// Memory ordering by fences and atomics, as the CUDA memory model has it: what a thread did before
// a fence is visible to another thread after its own fence, if an atomic (or a chain of atomics,
// barriers and warp barriers) leads from the first fence to the second.
#include "checker/fences.hpp"

#include <unordered_map>
#include <vector>

#include "base/scoped_ignore.hpp"
#include "checker/vector_clock.hpp"
#include "kernel/engine.hpp"

namespace simt {
namespace {

// An entry's key tells thread from block, and device scope from block scope.
constexpr std::uint64_t kWholeBlock = std::uint64_t(1) << 32;
constexpr std::uint64_t kBlockFence = std::uint64_t(1) << 33;  // holds inside that block only
constexpr std::uint64_t kSystem = std::uint64_t(1) << 34;      // holds on all devices
constexpr unsigned kLaunchShift = 35;  // from here on: the launch of another device, 0 for this one

struct FenceState {
  VectorClock visible;  // what the thread may read
  VectorClock carried;  // what its atomics pass on, and what the next fence makes visible
};

bool used = false;
/// What launches that have ended left at an address. It may have entries of launches of this device,
/// too, which are never looked up.
std::unordered_map<std::uintptr_t, VectorClock> left_behind;
std::unordered_map<std::uint32_t, FenceState> of_thread;
std::unordered_map<std::uint32_t, FenceState> of_block;  // shared by a barrier with all its threads
std::unordered_map<std::uintptr_t, VectorClock> at_address;

bool is_before(const Access& a, const VectorClock& k, bool same_block) {
  const std::uint32_t clock = a.clock >> kClockShift;
  const std::uint64_t thread = a.thread, block = kWholeBlock | block_of(a.thread);
  if (k.is_after(thread, clock) || k.is_after(block, clock)) return true;
  return same_block &&
         (k.is_after(kBlockFence | thread, clock) || k.is_after(kBlockFence | block, clock));
}

bool is_foreign(std::uint64_t key) { return key >> kLaunchShift != 0; }

std::uint32_t block_of_key(std::uint64_t key) {
  const auto id = static_cast<std::uint32_t>(key);
  return (key & kWholeBlock) != 0 ? id : block_of(id);
}

/// What a fence of system scope makes known to all devices.
VectorClock for_all_devices(const VectorClock& carried, std::uint32_t block) {
  VectorClock k;
  for (const auto& [key, clock] : carried) {
    const bool others_block = (key & kBlockFence) != 0 && block_of_key(key) != block;
    if (!is_foreign(key) && !others_block) k.raise((key & ~kBlockFence) | kSystem, clock);
  }
  return k;
}

const FenceState* find(const std::unordered_map<std::uint32_t, FenceState>& states,
                       std::uint32_t id) {
  auto it = states.find(id);
  return it == states.end() ? nullptr : &it->second;
}

}  // namespace

void fences_start_launch() {
  used = engine.cross_device && !left_behind.empty();
  of_thread.clear();
  of_block.clear();
  at_address.clear();
}

void fences_end_launch(std::uint32_t number) {
  if (!engine.cross_device) return;
  const std::uint64_t launch = std::uint64_t(number) << kLaunchShift;
  for (const auto& [address, clocks] : at_address) {
    for (const auto& [key, clock] : clocks) {
      if ((key & kBlockFence) != 0) continue;
      left_behind[address].raise(is_foreign(key) ? key : key | launch, clock);
    }
  }
}

void fences_forget() { left_behind.clear(); }

bool fences_used() { return used; }

void fence_by(Thread& t, Scope scope) {
  const ScopedIgnore guard;
  used = true;
  FenceState& mine = of_thread[t.id];
  const std::uint32_t block = block_of(t.id);
  if (const FenceState* shared = find(of_block, block)) mine.carried.join(shared->carried);
  const bool device = scope != Scope::block;
  for (const auto& [key, clock] : mine.carried) {
    const bool reaches = is_foreign(key) && (key & kSystem) != 0
                             ? scope == Scope::system
                             : device || block_of_key(key) == block;
    if (reaches) mine.visible.raise(key, clock);
  }
  const std::uint64_t range = device ? 0 : kBlockFence;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    const std::uint32_t lane_thread = t.id / kWarpSize * kWarpSize + l;
    if (t.lanes_seen[l] > 0) mine.carried.raise(range | lane_thread, t.lanes_seen[l] + 1);
  }
  mine.carried.raise(range | kWholeBlock | block, t.block->barrier_clock);
  mine.carried.raise(range | t.id, t.now() + 1);
  tick(t);  // what follows is not published by this fence
  if (device) mine.carried.join(mine.visible);
  if (engine.cross_device && scope == Scope::system) {
    mine.carried.join(for_all_devices(mine.carried, block));
  }
}

void fence_atomic(Thread& t, std::uintptr_t address) {
  if (!used) return;
  const ScopedIgnore guard;
  FenceState& mine = of_thread[t.id];
  if (const FenceState* shared = find(of_block, block_of(t.id))) mine.carried.join(shared->carried);
  VectorClock& here = at_address[address];
  if (engine.cross_device) {
    const auto left = left_behind.find(address);
    if (left != left_behind.end()) here.join(left->second);
  }
  mine.carried.join(here);
  here.join(mine.carried);
}

void fence_barrier(Block& block) {
  if (!used) return;
  const ScopedIgnore guard;
  FenceState& shared = of_block[block_of(block.threads.front().id)];
  for (const Thread& t : block.threads) {
    auto it = of_thread.find(t.id);
    if (it == of_thread.end()) continue;
    shared.visible.join(it->second.visible);
    shared.carried.join(it->second.carried);
  }
}

void fence_warp_sync(Block& block, unsigned warp, unsigned lanes) {
  if (!used) return;
  const ScopedIgnore guard;
  FenceState together;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    if (const FenceState* s = find(of_thread, block.lane(warp, l)->id)) {
      together.visible.join(s->visible);
      together.carried.join(s->carried);
    }
  }
  if (together.visible.empty() && together.carried.empty()) return;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) != 0) of_thread[block.lane(warp, l)->id] = together;
  }
}

namespace {
bool is_before(const Access& earlier, const Thread& t, VectorClock FenceState::*part) {
  const ScopedIgnore guard;
  const std::uint32_t block = block_of(t.id);
  const bool same_block = block_of(earlier.thread) == block;
  const FenceState* mine = find(of_thread, t.id);
  if (mine != nullptr && is_before(earlier, mine->*part, same_block)) return true;
  const FenceState* shared = find(of_block, block);
  return shared != nullptr && is_before(earlier, shared->*part, same_block);
}

/// The same of an access by another device's launch.
bool is_before(const CrossAccess& a, const VectorClock& k, std::uint64_t range) {
  const std::uint64_t launch = std::uint64_t(a.launch) << kLaunchShift | range;
  return k.is_after(launch | a.thread, a.clock) ||
         k.is_after(launch | kWholeBlock | block_of(a.thread), a.clock);
}

/// What the thread and its block know.
std::vector<const VectorClock*> parts_of(const Thread& t, VectorClock FenceState::*part) {
  std::vector<const VectorClock*> parts;
  if (const FenceState* mine = find(of_thread, t.id)) parts.push_back(&(mine->*part));
  if (const FenceState* shared = find(of_block, block_of(t.id))) parts.push_back(&(shared->*part));
  return parts;
}
}  // namespace

bool ordered_by_system_fences(const CrossAccess& earlier, const Thread& t) {
  const ScopedIgnore guard;
  for (const VectorClock* k : parts_of(t, &FenceState::visible)) {
    if (is_before(earlier, *k, kSystem)) return true;
  }
  return false;
}

bool lacks_system_fence(const CrossAccess& earlier, const Thread& t) {
  const ScopedIgnore guard;
  for (const VectorClock* k : parts_of(t, &FenceState::carried)) {
    if (is_before(earlier, *k, kSystem) || is_before(earlier, *k, 0)) return true;
  }
  return false;
}

std::vector<std::uint32_t> launches_known_by_fences(const Thread& t) {
  const ScopedIgnore guard;
  std::vector<std::uint32_t> launches;
  for (const VectorClock* k : parts_of(t, &FenceState::visible)) {
    for (const auto& [key, clock] : *k) {
      if (is_foreign(key) && (key & kSystem) != 0) {
        launches.push_back(static_cast<std::uint32_t>(key >> kLaunchShift));
      }
    }
  }
  return launches;
}

bool ordered_by_fences(const Access& earlier, const Thread& t) {
  return used && is_before(earlier, t, &FenceState::visible);
}

bool lacks_acquire_fence(const Access& earlier, const Thread& t) {
  return used && is_before(earlier, t, &FenceState::carried);
}

}  // namespace simt
