// The group of a thread block cluster. cooperative_groups.h includes it.
#pragma once

#include "simt/clusters.hpp"

namespace cooperative_groups {

/// All threads of the blocks of a cluster: of one block, in a launch without clusters.
class cluster_group {
 public:
  struct arrival_token {};

  SIMT_API static void sync() { simt::cluster_barrier("cluster_group::sync()", SIMT_CALLER); }
  SIMT_API static arrival_token barrier_arrive() {
    simt::cluster_arrive("cluster_group::barrier_arrive()", SIMT_CALLER);
    return {};
  }
  SIMT_API static void barrier_wait() {
    simt::cluster_wait("cluster_group::barrier_wait()", SIMT_CALLER);
  }
  SIMT_API static void barrier_wait(arrival_token&&) {
    simt::cluster_wait("cluster_group::barrier_wait()", SIMT_CALLER);
  }
  SIMT_API static unsigned block_rank() { return simt::cluster_block_rank(); }
  SIMT_API static dim3 block_index() { return simt::cluster_block_index(); }
  SIMT_API static unsigned num_blocks() {
    const dim3 blocks = simt::cluster_extent();
    return blocks.x * blocks.y * blocks.z;
  }
  SIMT_API static dim3 dim_blocks() { return simt::cluster_extent(); }
  SIMT_API static unsigned num_threads() { return num_blocks() * details::block_size(); }
  SIMT_API static unsigned size() { return num_threads(); }
  SIMT_API static unsigned thread_rank() {
    return block_rank() * details::block_size() + details::block_rank();
  }
  /// The same variable in the shared memory of the block of that rank.
  template <class T>
  SIMT_API_TEMPLATE static T* map_shared_rank(T* address, int rank) {
    return static_cast<T*>(simt::map_shared(address, static_cast<unsigned>(rank), SIMT_CALLER));
  }
  /// The rank of the block whose shared memory the address is in.
  SIMT_API static unsigned query_shared_rank(const void* address) {
    return simt::rank_of_shared(address, SIMT_CALLER);
  }
};

SIMT_API cluster_group this_cluster() { return {}; }
SIMT_API void sync(const cluster_group&) {
  simt::cluster_barrier("sync() of a cluster", SIMT_CALLER);
}

}  // namespace cooperative_groups
