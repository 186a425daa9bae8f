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

/// The variable `s` of the block of that rank += v, in two PTX instructions for shared memory of a
/// cluster: a mapa with addresses of 32 bits, and a RED of the cluster's scope. atomicAdd() on what
/// map_shared_rank() returns is the same addition with a generic address and the GPU's scope.
__device__ __forceinline__ void red_add_in_cluster(unsigned* s, unsigned rank, unsigned v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && !COURSE_CPU_DEVICE
  unsigned at;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(at)
      : "r"(static_cast<unsigned>(__cvta_generic_to_shared(s))), "r"(rank));
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;"
               :
               : "r"(at), "r"(v)
               : "memory");
#else
  atomicAdd(this_cluster().map_shared_rank(s, static_cast<int>(rank)), v);
#endif
}

}  // namespace course
