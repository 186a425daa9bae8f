// Memory ordering by fences and atomics, as the CUDA memory model has it.
//
// What follows a fence in its thread and writes, by an atomic or a relaxed store, passes on what the thread
// knows: its own accesses, and those of others that are visible to it. An atomic or a relaxed load finds that
// with the value, also if further atomics have changed the value since; a store of another thread ends it.
// The next fence of the thread that has found it makes it visible. The narrower scope of the two fences decides
// whom it reaches. What is visible has no scope: fences of block and of device scope, one after the other, combine.
//
// A barrier shares all of this among its threads, also what one of them has found or may pass on: the fence and
// the atomic may be those of two threads, if a barrier lies between.
#include "checker/fences.hpp"

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/early.hpp"
#include "base/scoped_ignore.hpp"
#include "checker/late_stores.hpp"
#include "checker/overlap.hpp"
#include "checker/vector_clock.hpp"
#include "kernel/cluster.hpp"
#include "kernel/engine.hpp"
#include "memory/allocations.hpp"

namespace simt {
namespace {

/// By the narrowest fence that has to do with it, on this side and on the other one.
struct ByScope {
  VectorClock block, device, system;

  bool empty() const { return block.empty() && device.empty() && system.empty(); }
  void join(const ByScope& other) {
    block.join(other.block);
    device.join(other.device);
    system.join(other.system);
  }
};

struct Knowledge {
  VectorClock visible;
  ByScope found;         // waits for a fence of that scope, or of a wider one
  ByScope passed_on;     // by what the thread writes
  VectorClock too_near;  // found, and passed on in a scope that does not reach this device

  bool empty() const {
    return visible.empty() && found.empty() && passed_on.empty() && too_near.empty();
  }
  void join(const Knowledge& other) {
    visible.join(other.visible);
    found.join(other.found);
    passed_on.join(other.passed_on);
    too_near.join(other.too_near);
  }
};

struct FenceState : Knowledge {
  unsigned barriers = 0;          // BlockFences::barriers whose common knowledge is in this
  bool joins_barrier = false;     // named in BlockFences::changed
  std::uint32_t fence_clock = 0;  // of the thread, at its last fence
};

/// What was passed on at an address in device scope, or wider.
struct PassedOn {
  VectorClock device, system;
  std::uint32_t version = 0;  // one more with each store that ends what was passed on before
};
struct Place : PassedOn {
  std::uint32_t generation = 0;  // of shared memory, which one block uses after the other
  // Where stores may be late: with the value before the last one, and with the value that a late load finds.
  PassedOn before, old;
};
/// The same in any scope, by the threads of a block, for each other.
struct BlockPlace {
  VectorClock clocks;
  std::uint32_t version = 0;  // of the Place
};

struct BlockFences {
  Knowledge common;                    // what a barrier has shared among all threads
  unsigned barriers = 0;               // that have changed it
  std::vector<std::uint32_t> threads;  // those that have a state of their own
  std::vector<std::uint32_t> changed;  // of these, since the last barrier
  std::unordered_map<std::uintptr_t, BlockPlace> at_address;
};

/// What launches that have ended left at an address.
struct LeftBehind {
  std::array<VectorClock, kMostDevices> device;  // for later launches on the same one
  VectorClock system;
};

bool used = false;
SIMT_EARLY std::unordered_map<std::uintptr_t, LeftBehind> left_behind;
SIMT_EARLY std::unordered_map<std::uint32_t, FenceState> of_thread;
SIMT_EARLY std::unordered_map<std::uint32_t, BlockFences> of_block;
SIMT_EARLY std::unordered_map<std::uintptr_t, Place> at_address;

/// The thread's state, to be changed, with what the barriers of its block have told it.
FenceState& state_of(std::uint32_t thread, BlockFences& block) {
  const auto [it, is_new] = of_thread.try_emplace(thread);
  FenceState& mine = it->second;
  if (is_new) block.threads.push_back(thread);
  if (!mine.joins_barrier) block.changed.push_back(thread);
  mine.joins_barrier = true;
  if (mine.barriers != block.barriers) mine.join(block.common);
  mine.barriers = block.barriers;
  return mine;
}

const FenceState* find(std::uint32_t thread) {
  const auto it = of_thread.find(thread);
  return it == of_thread.end() ? nullptr : &it->second;
}

/// What the thread knows: by itself, and by the barriers of its block.
std::vector<const Knowledge*> known_to(const Thread& t) {
  std::vector<const Knowledge*> known;
  if (const FenceState* mine = find(t.id)) known.push_back(mine);
  const auto block = of_block.find(block_of(t.id));
  if (block != of_block.end()) known.push_back(&block->second.common);
  return known;
}

/// What the barrier of its cluster has told the thread is visible to it.
void see_cluster(Thread& t, ClockTree& visible) {
  const std::uint32_t known = phases_known(t);
  if (t.cluster_told == known) return;
  t.cluster_told = known;
  const Cluster& c = *t.block->cluster;
  const std::vector<std::uint32_t>& clocks = c.clocks[known % 3];
  for (const Member& m : c.members) {
    for (unsigned i = 0; i < c.block_size; ++i) {
      const std::uint32_t clock = clocks[m.block->cluster_rank * c.block_size + i];
      visible.raise(thread_id(m.block->linear, i), clock);
    }
  }
}

/// So is what the thread itself did, and what barriers and warp barriers have ordered before.
void see_own_block(const Thread& t, ClockTree& visible) {
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if (t.seen(l) > 0) visible.raise(lane_id_of(t.id, l), t.seen(l) + 1);
  }
  visible.raise_block(block_of(t.id), t.block->barrier_clock);
  visible.raise(t.id, t.now() + 1);
}

unsigned this_device() { return static_cast<unsigned>(engine.placement->device); }

const LeftBehind* find_left_behind(std::uintptr_t address) {
  if (!engine.overlap) return nullptr;
  const auto left = left_behind.find(address);
  return left == left_behind.end() ? nullptr : &left->second;
}

/// Returns what it was.
PassedOn end_what_was_passed_on(PassedOn& place) {
  PassedOn ended = std::move(place);
  place = {};
  place.version = ended.version + 1;
  return ended;
}

void find(FenceState& mine, const BlockFences& block, std::uintptr_t address,
          const PassedOn& there) {
  mine.found.device.join(there.device);
  mine.found.system.join(there.system);
  if (const LeftBehind* const left = find_left_behind(address)) {
    for (const VectorClock& clocks : left->device) mine.too_near.join(clocks);
  }
  const auto near = block.at_address.find(address);
  if (near != block.at_address.end() && near->second.version == there.version) {
    mine.found.block.join(near->second.clocks);
  }
}

/// What was passed on at the address; null if nothing was, unless it is to be made.
Place* place_at(std::uintptr_t address, bool make) {
  const Allocation* const a = owner_of(address);
  const std::uint32_t generation = a != nullptr && a->space == Space::shared ? a->generation : 0;
  auto found = at_address.find(address);
  if (found == at_address.end()) {
    const LeftBehind* const left = find_left_behind(address);
    if (left == nullptr && !make) return nullptr;
    found = at_address.try_emplace(address).first;
    found->second.generation = generation;
    if (left != nullptr) {
      found->second.device = left->device[this_device()];
      found->second.system = left->system;
    }
  } else if (found->second.generation != generation) {
    end_what_was_passed_on(found->second);
    found->second.generation = generation;
  }
  return &found->second;
}

VectorClock as_foreign(const VectorClock& clocks, std::uint32_t launch) {
  VectorClock result;
  result.foreign = clocks.foreign;
  if (!clocks.own.empty()) result.of_launch(launch).clocks.join(clocks.own);
  return result;
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
  for (const auto& [address, place] : at_address) {
    if (place.generation != 0) continue;  // shared memory
    LeftBehind& left = left_behind[address];
    if (place.version > 0) left = {};
    left.device[this_device()].join(as_foreign(place.device, launch));
    left.system.join(as_foreign(place.system, launch));
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

bool has_fenced(std::uint32_t thread, std::uint32_t since) {
  const FenceState* const state = find(thread);
  return state != nullptr && state->fence_clock >= since;
}

void fence_by(Thread& t, Scope scope) {
  const ScopedIgnore guard;
  used = true;
  FenceState& mine = state_of(t.id, of_block[block_of(t.id)]);
  mine.fence_clock = t.now();
  const auto see = [&](VectorClock& found) {
    mine.visible.join(found);
    found = {};
  };
  see(mine.found.block);
  if (scope >= Scope::device) see(mine.found.device);
  if (scope == Scope::system) see(mine.found.system);
  see_own_block(t, mine.visible.own);
  if (t.block->cluster != nullptr) see_cluster(t, mine.visible.own);
  mine.passed_on.block = mine.visible;
  if (scope >= Scope::device) mine.passed_on.device = mine.visible;
  if (scope == Scope::system && engine.overlap) mine.passed_on.system = mine.visible;
  if (scope >= Scope::device && stores_may_be_late) late_stores_fence(t);
  tick(t);  // what follows is not passed on by this fence
}

void fence_atomic(Thread& t, std::uintptr_t address, AccessKind kind) {
  if (!used) return;
  const ScopedIgnore guard;
  BlockFences& block = of_block[block_of(t.id)];
  FenceState& mine = state_of(t.id, block);
  const bool passes_on = !mine.passed_on.block.empty();
  Place* const place = place_at(address, passes_on);
  if (place == nullptr) return;
  if (kind == AccessKind::relaxed_write) {
    PassedOn before = end_what_was_passed_on(*place);
    if (stores_may_be_late) place->before = std::move(before);
  } else {
    find(mine, block, address, *place);
    if (stores_may_be_late) place->before = *place;
  }
  if (!passes_on) return;
  BlockPlace& near = block.at_address[address];
  if (near.version != place->version) near = {{}, place->version};
  near.clocks.join(mine.passed_on.block);
  place->device.join(mine.passed_on.device);
  place->system.join(mine.passed_on.system);
}

void fence_load(Thread& t, std::uintptr_t address, bool finds_old_value) {
  if (!used) return;
  const ScopedIgnore guard;
  const Place* const place = place_at(address, false);
  if (place == nullptr) return;
  BlockFences& block = of_block[block_of(t.id)];
  find(state_of(t.id, block), block, address, finds_old_value ? place->old : *place);
}

void fence_late_store(std::uintptr_t address) {
  const auto place = at_address.find(address);
  if (place != at_address.end()) place->second.old = std::move(place->second.before);
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
    all.common.join(mine);
    mine.joins_barrier = false;
  }
  all.changed.clear();
}

void fence_cluster(const Cluster& cluster) {
  if (!used) return;
  const ScopedIgnore guard;
  Knowledge all;
  for (const Member& m : cluster.members) {
    fence_barrier(*m.block);
    const auto block = of_block.find(m.block->linear);
    if (block != of_block.end()) all.join(block->second.common);
  }
  for (const Member& m : cluster.members) {
    BlockFences& block = of_block[m.block->linear];
    block.common.join(all);
    ++block.barriers;
  }
}

void fence_warp_sync(Block& block, unsigned warp, unsigned lanes) {
  if (!used) return;
  const ScopedIgnore guard;
  Knowledge all;
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    if (const FenceState* s = find(block.lane(warp, l)->id)) all.join(*s);
  }
  if (all.empty()) return;
  BlockFences& fences = of_block[block.linear];
  for (unsigned l = 0; l < kWarpSize; ++l) {
    if ((lanes >> l & 1u) == 0) continue;
    state_of(block.lane(warp, l)->id, fences).join(all);
  }
}

namespace {

bool is_before(const Access& a, const VectorClock& k) {
  return k.own.is_after(a.thread, a.clock >> kClockShift);
}

/// Of an access by another launch.
bool is_before(const CrossAccess& a, const VectorClock& k) {
  const ForeignClocks* const f = k.find(a.operation);
  if (f == nullptr) return false;
  return f->clocks.is_after(a.thread, a.clock, id_bits_of(operation_of(a).block));
}

template <class AnyAccess>
bool was_found(const AnyAccess& a, const Knowledge& k) {
  return is_before(a, k.found.block) || is_before(a, k.found.device) ||
         is_before(a, k.found.system) || is_before(a, k.too_near);
}

}  // namespace

bool ordered_by_fences_of_launches(const CrossAccess& earlier, const Thread& t) {
  const ScopedIgnore guard;
  for (const Knowledge* k : known_to(t)) {
    if (is_before(earlier, k->visible)) return true;
  }
  return false;
}

bool lacks_system_fence(const CrossAccess& earlier, const Thread& t) {
  const ScopedIgnore guard;
  for (const Knowledge* k : known_to(t)) {
    if (was_found(earlier, *k)) return true;
  }
  return false;
}

std::vector<std::uint32_t> launches_known_by_fences(const Thread& t) {
  const ScopedIgnore guard;
  std::vector<std::uint32_t> launches;
  for (const Knowledge* k : known_to(t)) {
    for (const ForeignClocks& f : k->visible.foreign) launches.push_back(f.launch);
  }
  return launches;
}

bool ordered_by_fences(const Access& earlier, const Thread& t) {
  if (!used) return false;
  const ScopedIgnore guard;
  const FenceState* const mine = find(t.id);
  if (mine != nullptr && is_before(earlier, mine->visible)) return true;
  const auto block = of_block.find(block_of(t.id));
  return block != of_block.end() && is_before(earlier, block->second.common.visible);
}

bool lacks_acquire_fence(const Access& earlier, const Thread& t) {
  if (!used) return false;
  const ScopedIgnore guard;
  for (const Knowledge* k : known_to(t)) {
    if (was_found(earlier, *k)) return true;
  }
  return false;
}

}  // namespace simt
