// Memory ordering by fences and atomics, as the CUDA memory model has it: what a thread did before
// a fence is visible to another thread after its own fence, if an atomic (or a chain of atomics,
// barriers and warp barriers) leads from the first fence to the second.
#include "checker/fences.hpp"

#include <unordered_map>
#include <vector>

#include "base/early.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/late_stores.hpp"
#include "checker/overlap.hpp"
#include "checker/vector_clock.hpp"
#include "kernel/cluster.hpp"
#include "kernel/engine.hpp"

namespace simt {
namespace {

struct FenceState {
  VectorClock visible;         // what the thread may read
  VectorClock carried;         // what its atomics pass on, and what the next fence makes visible
  unsigned barriers = 0;       // BlockFences::barriers whose common state is in `carried`
  bool joins_barrier = false;  // named in BlockFences::changed
};

/// What a barrier shares among all threads of a block.
struct BlockFences {
  FenceState common;
  unsigned barriers = 0;               // that have changed it
  std::vector<std::uint32_t> threads;  // those that have a state of their own
  std::vector<std::uint32_t> changed;  // of these, since the last barrier
};

bool used = false;
/// What launches that have ended left at an address.
SIMT_EARLY std::unordered_map<std::uintptr_t, VectorClock> left_behind;
SIMT_EARLY std::unordered_map<std::uint32_t, FenceState> of_thread;
SIMT_EARLY std::unordered_map<std::uint32_t, BlockFences> of_block;
SIMT_EARLY std::unordered_map<std::uintptr_t, VectorClock> at_address;

/// The thread's state, to be changed, with what the barriers of its block have told it.
FenceState& state_of(std::uint32_t thread) {
  BlockFences& block = of_block[block_of(thread)];
  const auto [it, is_new] = of_thread.try_emplace(thread);
  FenceState& mine = it->second;
  if (is_new) block.threads.push_back(thread);
  if (!mine.joins_barrier) block.changed.push_back(thread);
  mine.joins_barrier = true;
  if (mine.barriers != block.barriers) mine.carried.join(block.common.carried);
  mine.barriers = block.barriers;
  return mine;
}

const FenceState* find(std::uint32_t thread) {
  const auto it = of_thread.find(thread);
  return it == of_thread.end() ? nullptr : &it->second;
}
const FenceState* find_common(std::uint32_t block) {
  const auto it = of_block.find(block);
  return it == of_block.end() ? nullptr : &it->second.common;
}

bool is_before(const Access& a, const VectorClock& k, bool same_block) {
  const std::uint32_t clock = a.clock >> kClockShift;
  return k.device.is_after(a.thread, clock) || (same_block && k.block.is_after(a.thread, clock));
}

/// A fence makes visible what the thread's atomics have told it: all of it, or what its own block did.
void make_visible(FenceState& mine, Scope scope, std::uint32_t block) {
  if (scope == Scope::block) {
    mine.visible.device.join_block(mine.carried.device, block);
    mine.visible.block.join_block(mine.carried.block, block);
    return;
  }
  mine.visible.device.join(mine.carried.device);
  mine.visible.block.join(mine.carried.block);
  mine.visible.system.join(mine.carried.system);
  for (const ForeignClocks& f : mine.carried.foreign) {
    ForeignClocks& theirs = mine.visible.of_launch(f.launch);
    theirs.device.join(f.device);
    if (scope == Scope::system) theirs.system.join(f.system);
  }
}

/// What the barrier of its cluster has told the thread becomes a part of what its fences tell others.
void publish_cluster(Thread& t, ClockTree& published) {
  const std::uint32_t known = phases_known(t);
  if (t.cluster_told == known) return;
  t.cluster_told = known;
  const Cluster& c = *t.block->cluster;
  const std::vector<std::uint32_t>& clocks = c.clocks[known % 3];
  for (const Member& m : c.members) {
    for (unsigned i = 0; i < c.block_size; ++i) {
      const std::uint32_t clock = clocks[m.block->cluster_rank * c.block_size + i];
      published.raise(m.block->linear << kThreadBits | i, clock);
    }
  }
}

}  // namespace

void fences_start_launch() {
  used = engine.overlap && !left_behind.empty();
  of_thread.clear();
  of_block.clear();
  at_address.clear();
  ClockTree::set_blocks(engine.blocks_total);
}

void fences_end_launch(std::uint32_t launch) {
  if (!engine.overlap) return;
  for (const auto& [address, clocks] : at_address) {
    VectorClock passed_on;
    passed_on.foreign = clocks.foreign;
    ForeignClocks& mine = passed_on.of_launch(launch);
    mine.device.join(clocks.device);
    mine.system.join(clocks.system);
    left_behind[address].join(passed_on);
  }
}

void fences_end_block(const Block& block) {
  if (!used) return;
  const auto it = of_block.find(block.linear);
  if (it == of_block.end()) return;
  for (const std::uint32_t thread : it->second.threads) of_thread.erase(thread);
  of_block.erase(it);
}

void fences_forget() { left_behind.clear(); }

bool fences_used() { return used; }

void fence_by(Thread& t, Scope scope) {
  const ScopedIgnore guard;
  used = true;
  FenceState& mine = state_of(t.id);
  const std::uint32_t block = block_of(t.id);
  make_visible(mine, scope, block);
  const bool device = scope != Scope::block;
  ClockTree& published = device ? mine.carried.device : mine.carried.block;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    const std::uint32_t lane_thread = t.id / kWarpSize * kWarpSize + l;
    if (t.seen(l) > 0) published.raise(lane_thread, t.seen(l) + 1);
  }
  if (t.block->cluster != nullptr) publish_cluster(t, published);
  published.raise_block(block, t.block->barrier_clock);
  published.raise(t.id, t.now() + 1);
  if (device && stores_may_be_late) late_stores_fence(t);
  tick(t);  // what follows is not published by this fence
  if (device) mine.carried.join(mine.visible);
  if (engine.overlap && scope == Scope::system) {
    mine.carried.system.join(mine.carried.device);
    mine.carried.system.join_block(mine.carried.block, block);
  }
}

void fence_atomic(Thread& t, std::uintptr_t address, AccessKind kind) {
  if (!used) return;
  const ScopedIgnore guard;
  FenceState& mine = state_of(t.id);
  VectorClock& here = at_address[address];
  if (engine.overlap) {
    const auto left = left_behind.find(address);
    if (left != left_behind.end()) here.join(left->second);
  }
  mine.carried.join(here);
  if (writes(kind)) here.join(mine.carried);
}

void fence_barrier(Block& block) {
  if (!used) return;
  const ScopedIgnore guard;
  const auto it = of_block.find(block.linear);
  if (it == of_block.end() || it->second.changed.empty()) return;
  BlockFences& all = it->second;
  ++all.barriers;
  for (const std::uint32_t thread : all.changed) {
    FenceState& mine = of_thread.at(thread);
    all.common.visible.join(mine.visible);
    all.common.carried.join(mine.carried);
    mine.joins_barrier = false;
  }
  all.changed.clear();
}

void fence_cluster(const Cluster& cluster) {
  if (!used) return;
  const ScopedIgnore guard;
  FenceState all;
  for (const Member& m : cluster.members) {
    fence_barrier(*m.block);
    if (const FenceState* common = find_common(m.block->linear)) {
      all.visible.join(common->visible);
      all.carried.join(common->carried);
    }
  }
  for (const Member& m : cluster.members) {
    BlockFences& block = of_block[m.block->linear];
    block.common.visible.join(all.visible);
    block.common.carried.join(all.carried);
    ++block.barriers;
  }
}

void fence_warp_sync(Block& block, unsigned warp, unsigned lanes) {
  if (!used) return;
  const ScopedIgnore guard;
  VectorClock visible, carried;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    if (const FenceState* s = find(block.lane(warp, l)->id)) {
      visible.join(s->visible);
      carried.join(s->carried);
    }
  }
  if (visible.empty() && carried.empty()) return;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    FenceState& mine = state_of(block.lane(warp, l)->id);
    mine.visible = visible;
    mine.carried.join(carried);
  }
}

namespace {
bool is_before(const Access& earlier, const Thread& t, VectorClock FenceState::*part) {
  const ScopedIgnore guard;
  const std::uint32_t block = block_of(t.id);
  const bool same_block = block_of(earlier.thread) == block;
  const FenceState* mine = find(t.id);
  if (mine != nullptr && is_before(earlier, mine->*part, same_block)) return true;
  const FenceState* common = find_common(block);
  return common != nullptr && is_before(earlier, common->*part, same_block);
}

/// What the thread and its block know.
std::vector<const VectorClock*> parts_of(const Thread& t, VectorClock FenceState::*part) {
  std::vector<const VectorClock*> parts;
  if (const FenceState* mine = find(t.id)) parts.push_back(&(mine->*part));
  if (const FenceState* common = find_common(block_of(t.id))) parts.push_back(&(common->*part));
  return parts;
}

/// Fences of two launches on one device need no system scope.
bool is_of_this_device(std::uint32_t launch) {
  const PastOperation* const past = past_operation(launch);
  return past != nullptr && past->placement.device == engine.placement->device;
}

/// Of an access by another launch: is it before, and by fences of system scope alone?
bool is_before(const CrossAccess& a, const VectorClock& k, bool system_only) {
  const ForeignClocks* const f = k.find(a.operation);
  if (f == nullptr) return false;
  return f->system.is_after(a.thread, a.clock) ||
         (!system_only && f->device.is_after(a.thread, a.clock));
}
}  // namespace

bool ordered_by_fences_of_launches(const CrossAccess& earlier, const Thread& t) {
  const ScopedIgnore guard;
  const bool system_only = !is_of_this_device(earlier.operation);
  for (const VectorClock* k : parts_of(t, &FenceState::visible)) {
    if (is_before(earlier, *k, system_only)) return true;
  }
  return false;
}

bool lacks_system_fence(const CrossAccess& earlier, const Thread& t) {
  const ScopedIgnore guard;
  for (const VectorClock* k : parts_of(t, &FenceState::carried)) {
    if (is_before(earlier, *k, false)) return true;
  }
  return false;
}

std::vector<std::uint32_t> launches_known_by_fences(const Thread& t) {
  const ScopedIgnore guard;
  std::vector<std::uint32_t> launches;
  for (const VectorClock* k : parts_of(t, &FenceState::visible)) {
    for (const ForeignClocks& f : k->foreign) {
      const bool by_device = is_of_this_device(f.launch) && !f.device.empty();
      if (by_device || !f.system.empty()) launches.push_back(f.launch);
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
