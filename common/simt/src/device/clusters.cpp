// Shared memory of the other blocks of a cluster.
#include <algorithm>

#include "base/scoped_ignore.hpp"
#include "kernel/cluster.hpp"
#include "kernel/engine.hpp"
#include "simt/api.hpp"
#include "simt/clusters.hpp"

namespace simt {
namespace {

/// The block's copy of a variable of which another block has `model`.
Allocation* copy_in(Block& block, const SharedInstance& model) {
  for (const SharedInstance& s : block.shared) {
    if (s.key == model.key) return s.memory;
  }
  Allocation* const a =
      acquire_shared(model.memory->size, model.memory->element, model.memory->name);
  a->extents = model.memory->extents;
  a->holder = block.linear;
  block.shared.push_back({model.key, a});
  return a;
}

/// The allocation in `block` that is what `mine` is in `own`; null if there is none.
Allocation* counterpart(Block& block, const Block& own, const Allocation* mine) {
  if (mine == own.dynamic) {
    block.dynamic->name = mine->name;
    block.dynamic->element = mine->element;
    block.dynamic->extents = mine->extents;
    return block.dynamic;
  }
  for (const SharedInstance& s : own.shared) {
    if (s.memory == mine) return copy_in(block, s);
  }
  return nullptr;
}

/// The block of the running one's cluster that holds the address; null if none does.
const Block* holder_of(const Block& block, const Allocation* a) {
  if (a == nullptr || a->space != Space::shared) return nullptr;
  if (a->holder == block.linear) return &block;
  if (block.cluster == nullptr) return nullptr;
  const Member* const m = block.cluster->member(a->holder);
  return m == nullptr ? nullptr : m->block;
}

[[noreturn]] void stop_not_shared(const void* caller) {
  trap(
      "an address of another block's shared memory is computed from one in shared memory: this is none",
      cudaErrorIllegalAddress, caller);
}

}  // namespace

void* map_shared(const void* address, unsigned rank, const void* caller) {
  const ScopedIgnore guard;
  Block& block = *engine.current->block;
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  Allocation* const a = owner_of(bits);
  const Block* const holder = holder_of(block, a);
  if (holder == nullptr) stop_not_shared(caller);
  const std::size_t ranks = block.cluster == nullptr ? 1 : block.cluster->members.size();
  if (rank >= ranks) {
    trap("map_shared_rank() takes a rank below num_blocks(), the number of blocks of the cluster",
         cudaErrorIllegalAddress, caller);
  }
  if (rank == holder->cluster_rank) return const_cast<void*>(address);
  Block& other = *block.cluster->members[rank].block;
  Allocation* const there = counterpart(other, *holder, a);
  return there == nullptr ? nullptr : reinterpret_cast<void*>(there->begin + (bits - a->begin));
}

unsigned rank_of_shared(const void* address, const void* caller) {
  const Block* const holder =
      holder_of(*engine.current->block, owner_of(reinterpret_cast<std::uintptr_t>(address)));
  if (holder == nullptr) stop_not_shared(caller);
  return holder->cluster_rank;
}

}  // namespace simt
