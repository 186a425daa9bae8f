// Two kernels that agree with each other, and are both wrong: the index of the article.
// Rungs: dot_wrong_index_operators, dot_wrong_index_intrinsics (wrong on purpose), count_visits,
//        which shows what they read.
// The article's test compares the first with the second one, and prints PASSED.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>

#include "dot_half.cuh"
#include "grid.cuh"

/// The article's launch: 128 blocks of 128 threads, and 16 half2 for each thread.
constexpr unsigned kArticleBlocks = 128;
constexpr std::size_t kArticlePairs = std::size_t{kArticleBlocks} * kBlockSize * 16;

/// Where a thread of the article begins. There is a + where a * belongs: thread t of block b
/// has the same index as thread t + 1 of block b - 1.
__device__ __forceinline__ std::size_t wrong_index() {
  return std::size_t{threadIdx.x} + blockDim.x + blockIdx.x;  // wrong on purpose
}

// Question: how does one see what a loop reads, if its result looks right?
// Changes:  the loop of the kernels below; it counts its visits to each pair, and reads nothing.
// Cost:     an atomic for each visit.
__global__ void count_visits(std::size_t pairs, unsigned* d_visits) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = wrong_index(); i < pairs; i += threads) atomicAdd(&d_visits[i], 1u);
}

// Question: is a kernel right if another one gives the same result?
// Changes:  dot_half2_operators with the article's index.
// Cost:     as fast as the right one, or faster: 4,080 pairs come from a cache again and again.
__global__ void dot_wrong_index_operators(const __half2* d_a, const __half2* d_b, std::size_t pairs,
                                          float* d_y) {
  __shared__ __half2 s_sum[kBlockSize];
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  __half2 sum = __float2half2_rn(0.0f);
  for (std::size_t i = wrong_index(); i < pairs; i += threads) sum = d_a[i] * d_b[i] + sum;
  s_sum[threadIdx.x] = sum;
  __syncthreads();
  tree_of_128_operators(s_sum);
  if (threadIdx.x == 0) atomicAdd(d_y, float(s_sum[0].x) + float(s_sum[0].y));
}

// Question: and the kernel that it is compared with?
// Changes:  dot_half2_intrinsics with the same index.
// Cost:     a test of one against the other proves only that both have the same error.
__global__ void dot_wrong_index_intrinsics(const __half2* d_a, const __half2* d_b,
                                           std::size_t pairs, float* d_y) {
  __shared__ __half2 s_sum[kBlockSize];
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  __half2 sum = __float2half2_rn(0.0f);
  for (std::size_t i = wrong_index(); i < pairs; i += threads) sum = __hfma2(d_a[i], d_b[i], sum);
  s_sum[threadIdx.x] = sum;
  __syncthreads();
  tree_of_128_intrinsics(s_sum);
  if (threadIdx.x == 0) atomicAdd(d_y, __low2float(s_sum[0]) + __high2float(s_sum[0]));
}
