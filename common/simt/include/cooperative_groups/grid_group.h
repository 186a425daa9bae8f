// The group of all threads of a launch. cooperative_groups.h includes it.
#pragma once

#include "simt/clusters.hpp"
#include "simt/runtime.hpp"

namespace cooperative_groups {

/// All threads of the grid. They can wait for each other if cudaLaunchCooperativeKernel() launched
/// them.
class grid_group {
 public:
  SIMT_API static bool is_valid() { return simt::is_cooperative_launch(); }
  using arrival_token = unsigned;

  SIMT_API static void sync() { simt::grid_barrier(SIMT_CALLER); }
  SIMT_API static arrival_token barrier_arrive() {
    simt::grid_arrive(SIMT_CALLER);
    return 0;
  }
  SIMT_API static void barrier_wait(arrival_token&&) { simt::grid_wait(SIMT_CALLER); }
  SIMT_API static dim3 group_dim() { return gridDim; }
  SIMT_API static dim3 dim_blocks() { return gridDim; }
  SIMT_API static dim3 dim_threads() {
    return {gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z};
  }
  SIMT_API static dim3 block_index() { return blockIdx; }
  SIMT_API static dim3 thread_index() {
    return {blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
            blockIdx.z * blockDim.z + threadIdx.z};
  }
  SIMT_API static unsigned long long size() {
    return 1ull * gridDim.x * gridDim.y * gridDim.z * details::block_size();
  }
  SIMT_API static unsigned long long num_threads() {
    return 1ull * gridDim.x * gridDim.y * gridDim.z * details::block_size();
  }
  SIMT_API static unsigned long long block_rank() {
    return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  SIMT_API static unsigned long long num_blocks() {
    return 1ull * gridDim.x * gridDim.y * gridDim.z;
  }
  /// Clusters in each dimension: as many as blocks, in a launch without clusters.
  SIMT_API static dim3 dim_clusters() {
    const dim3 blocks = simt::cluster_extent();
    return {gridDim.x / blocks.x, gridDim.y / blocks.y, gridDim.z / blocks.z};
  }
  SIMT_API static unsigned long long num_clusters() {
    const dim3 clusters = dim_clusters();
    return 1ull * clusters.x * clusters.y * clusters.z;
  }
  SIMT_API static dim3 cluster_index() {
    const dim3 blocks = simt::cluster_extent();
    return {blockIdx.x / blocks.x, blockIdx.y / blocks.y, blockIdx.z / blocks.z};
  }
  SIMT_API static unsigned long long cluster_rank() {
    const dim3 clusters = dim_clusters(), index = cluster_index();
    return (1ull * index.z * clusters.y + index.y) * clusters.x + index.x;
  }
  SIMT_API static unsigned long long thread_rank() {
    const auto block = (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    return block * details::block_size() + details::block_rank();
  }
};

SIMT_API grid_group this_grid() { return {}; }
SIMT_API void sync(const grid_group&) { simt::grid_barrier(SIMT_CALLER); }

}  // namespace cooperative_groups
