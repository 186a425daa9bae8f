// Thread block clusters (chapter 13): blocks that run at the same time, side by side, have a barrier of
// their own and reach each other's shared memory. GPUs have them from compute capability 9.0 on, and
// so does the CPU device.
//
// Example (common/tests/examples_test.cu):
//
//   course::launch(count_blocks, {.blocks = 8, .threads = 32, .cluster = 4}, d_count.data());
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <course/device.cuh>

namespace course {

/// The most blocks of a cluster that every GPU with clusters can run.
inline constexpr unsigned kMostBlocksOfCluster = 8;

/// cooperative_groups::this_cluster(), which older architectures do not declare. Code for these compiles,
/// and is never launched.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900 || COURSE_CPU_DEVICE
__device__ __forceinline__ cooperative_groups::cluster_group this_cluster() {
  return cooperative_groups::this_cluster();
}
#else
struct NoCluster {
  __device__ void sync() const {}
  __device__ void barrier_arrive() const {}
  __device__ void barrier_wait() const {}
  __device__ unsigned block_rank() const { return 0; }
  __device__ unsigned num_blocks() const { return 1; }
  template <class T>
  __device__ T* map_shared_rank(T* address, int) const {
    return address;
  }
};
__device__ __forceinline__ NoCluster this_cluster() { return {}; }
#endif

}  // namespace course
