// How does one device sum its share?
// One block per chunk of 32,768 elements, then one block for the chunks' sums, always in this
// order.
// Cost: one pass over the share, at the speed of its memory, and two launches.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <course/collectives.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <cstddef>

// Measured on an H200 with 2^29 floats: 512 threads with 16 loads in flight each. With half as much
// a block, the second launch has twice as many sums to add, which costs 1.4 %.
constexpr unsigned kSumBlock = 512, kLoads = 16;
constexpr unsigned kWidth = course::kWidestPack<float>;
/// Elements that one block sums: chunk c is [c * kChunk, (c + 1) * kChunk), whatever the GPU.
/// Which elements meet in a float is then known from the array alone.
constexpr std::size_t kChunk = std::size_t{kSumBlock} * kLoads * kWidth;

/// The sum of chunk `chunk` of d_x[0..n-1], in every thread. A thread's 64 elements are summed in
/// float, the threads' sums in double.
__device__ __forceinline__ double chunk_sum(const float* d_x, std::size_t n, std::size_t chunk) {
  const std::size_t begin = chunk * kChunk;
  const std::size_t size = n - begin < kChunk ? n - begin : kChunk;
  float mine = 0;
  if (size == kChunk) {
    course::Pack<float, kWidth> packs[kLoads];
    for (unsigned k = 0; k < kLoads; ++k) {  // several are on their way at once
      packs[k] = course::load_pack<kWidth>(d_x + begin + (k * kSumBlock + threadIdx.x) * kWidth);
    }
    for (unsigned k = 0; k < kLoads; ++k) {
      mine += (packs[k].elem[0] + packs[k].elem[1]) + (packs[k].elem[2] + packs[k].elem[3]);
    }
  } else {
    for (std::size_t i = threadIdx.x; i < size; i += kSumBlock) mine += d_x[begin + i];
  }
  return course::block_reduce(static_cast<double>(mine), course::Sum{});
}

/// d_sums[c] = the sum of chunk c. One block per chunk.
__global__ void __launch_bounds__(kSumBlock)
    chunk_sums_kernel(const float* d_x, std::size_t n, double* d_sums) {
  const double sum = chunk_sum(d_x, n, blockIdx.x);
  if (threadIdx.x == 0) d_sums[blockIdx.x] = sum;
}

/// *d_sum = d_sums[0] + ... + d_sums[n-1], by one block. n may be 0.
__global__ void sum_of_sums_kernel(const double* d_sums, std::size_t n, double* d_sum) {
  double mine = 0;
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) mine += d_sums[i];
  const double sum = course::block_reduce(mine, course::Sum{});
  if (threadIdx.x == 0) *d_sum = sum;
}

/// Chunks of n elements: so many doubles are the workspace of local_sum().
constexpr std::size_t chunks_of(std::size_t n) { return course::blocks_for(n, kChunk); }

/// Queues the sums of the chunks of d_x[0..n-1], floats in memory of the current device, aligned to
/// 16 bytes. d_sums has chunks_of(n) doubles. Throws CudaError.
inline void chunk_sums(const float* d_x, std::size_t n, double* d_sums, cudaStream_t stream) {
  course::launch(chunk_sums_kernel, {course::blocks_for(n, kChunk), kSumBlock, 0, stream}, d_x, n,
                 d_sums);
}

/// Queues *d_sum = d_x[0] + ... + d_x[n-1]: the same bits every time. d_sum is any double that the
/// current device reaches; otherwise as chunk_sums(). n = 0 gives 0.
inline void local_sum(const float* d_x, std::size_t n, double* d_sum, double* d_workspace,
                      cudaStream_t stream) {
  constexpr std::size_t kWarp = course::kWarpSize, kMostThreads = 1024;
  chunk_sums(d_x, n, d_workspace, stream);
  const std::size_t warps =
      std::clamp((chunks_of(n) + kWarp - 1) / kWarp, std::size_t{1}, kMostThreads / kWarp);
  course::launch(sum_of_sums_kernel, {1, static_cast<unsigned>(warps * kWarp), 0, stream},
                 d_workspace, chunks_of(n), d_sum);
}
