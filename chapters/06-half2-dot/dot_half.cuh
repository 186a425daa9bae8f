// What does arithmetic on two halves at once gain, and what does summing in half cost?
// Rungs: dot_reference, dot_half_scalar, dot_half2_operators, dot_half2_intrinsics,
//        dot_half2_any_block. All of them sum in half: fast enough, and inexact for most inputs.
// prediction.cuh computes how far off, to the last bit.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <vector>

#include "grid.cuh"

/// Rung 0. A product of two halves has 22 bits, a double 53: sums of 2^31 products of similar size
/// are exact, or close to it.
inline double dot_reference(const std::vector<__half>& a, const std::vector<__half>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(__half2float(a[i])) * static_cast<double>(__half2float(b[i]));
  }
  return sum;
}

/// s_sum[0] becomes the sum of s_sum[0..blockDim.x-1], in T's own arithmetic, whatever the size of
/// the block is. All threads call it, after the barrier that makes s_sum complete.
template <class T>
__device__ __forceinline__ void tree_of_any_size(T* s_sum) {
  for (unsigned count = blockDim.x; count > 1;) {
    const unsigned kept = (count + 1) / 2;  // if count is odd, the middle one waits
    if (threadIdx.x < count / 2) {
      s_sum[threadIdx.x] = s_sum[threadIdx.x] + s_sum[threadIdx.x + kept];
    }
    __syncthreads();  // the next step reads what others wrote in this one
    count = kept;
  }
}

// Question: what does the simplest dot product of halves look like?
// Changes:  a thread multiplies and adds single halves in a grid-stride loop; a tree per block.
// Cost:     one load of 2 bytes per half, 64 bytes per warp; 11 bits for every sum.
__global__ void dot_half_scalar(const __half* d_a, const __half* d_b, std::size_t n, float* d_y) {
  __shared__ __half s_sum[kBlockSize];
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  __half sum = __float2half_rn(0.0f);
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    sum = __hfma(d_a[i], d_b[i], sum);  // rounded to half, once
  }
  s_sum[threadIdx.x] = sum;
  __syncthreads();  // s_sum is complete
  tree_of_any_size(s_sum);
  if (threadIdx.x == 0) atomicAdd(d_y, __half2float(s_sum[0]));
}

/// The last half of an odd number of halves, paired with a zero.
__device__ __forceinline__ __half2 last_pair(const __half2* d_x, std::size_t n) {
  return __halves2half2(reinterpret_cast<const __half*>(d_x)[n - 1], __float2half_rn(0.0f));
}

/// One step of the tree by operators: `distance` sums are left of twice as many.
template <unsigned distance>
__device__ __forceinline__ void tree_step_operators(__half2* s_sum) {
  if (threadIdx.x < distance) {
    s_sum[threadIdx.x] = s_sum[threadIdx.x] + s_sum[threadIdx.x + distance];
  }
  __syncthreads();  // the next step reads what others wrote in this one
}

/// The tree, unrolled. It begins at 64 because a block has 128 threads: with fewer it reads
/// elements that no thread wrote, with more it leaves sums out.
__device__ __forceinline__ void tree_of_128_operators(__half2* s_sum) {
  tree_step_operators<64>(s_sum);
  tree_step_operators<32>(s_sum);
  tree_step_operators<16>(s_sum);
  tree_step_operators<8>(s_sum);
  tree_step_operators<4>(s_sum);
  tree_step_operators<2>(s_sum);
  tree_step_operators<1>(s_sum);
}

// Question: can a thread multiply and add two halves at once?
// Changes:  a half2 is one register with two halves; * and + work on both.
// Cost:     half the loads, half the instructions; two sums per thread, 11 bits each.
__global__ void dot_half2_operators(const __half2* d_a, const __half2* d_b, std::size_t n,
                                    float* d_y) {
  __shared__ __half2 s_sum[kBlockSize];
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  __half2 sum = __float2half2_rn(0.0f);
  for (std::size_t i = first; i < n / 2; i += threads) sum = d_a[i] * d_b[i] + sum;
  if (n % 2 != 0 && first == 0) sum = last_pair(d_a, n) * last_pair(d_b, n) + sum;
  s_sum[threadIdx.x] = sum;
  __syncthreads();  // s_sum is complete
  tree_of_128_operators(s_sum);
  if (threadIdx.x == 0) atomicAdd(d_y, float(s_sum[0].x) + float(s_sum[0].y));
}

/// One step of the tree by intrinsics.
template <unsigned distance>
__device__ __forceinline__ void tree_step_intrinsics(__half2* s_sum) {
  if (threadIdx.x < distance) {
    s_sum[threadIdx.x] = __hadd2(s_sum[threadIdx.x], s_sum[threadIdx.x + distance]);
  }
  __syncthreads();  // the next step reads what others wrote in this one
}

/// The tree, unrolled, for 128 threads and no other number.
__device__ __forceinline__ void tree_of_128_intrinsics(__half2* s_sum) {
  tree_step_intrinsics<64>(s_sum);
  tree_step_intrinsics<32>(s_sum);
  tree_step_intrinsics<16>(s_sum);
  tree_step_intrinsics<8>(s_sum);
  tree_step_intrinsics<4>(s_sum);
  tree_step_intrinsics<2>(s_sum);
  tree_step_intrinsics<1>(s_sum);
}

// Question: is it faster to name the instructions?
// Changes:  __hfma2 and __hadd2 instead of * and +; __low2float and __high2float.
// Cost:     the same. Read the SASS: the same instructions, the same registers.
__global__ void dot_half2_intrinsics(const __half2* d_a, const __half2* d_b, std::size_t n,
                                     float* d_y) {
  __shared__ __half2 s_sum[kBlockSize];
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  __half2 sum = __float2half2_rn(0.0f);
  for (std::size_t i = first; i < n / 2; i += threads) sum = __hfma2(d_a[i], d_b[i], sum);
  if (n % 2 != 0 && first == 0) sum = __hfma2(last_pair(d_a, n), last_pair(d_b, n), sum);
  s_sum[threadIdx.x] = sum;
  __syncthreads();  // s_sum is complete
  tree_of_128_intrinsics(s_sum);
  if (threadIdx.x == 0) atomicAdd(d_y, __low2float(s_sum[0]) + __high2float(s_sum[0]));
}

// Question: what if a block does not have 128 threads?
// Changes:  a loop instead of seven unrolled steps: any block size up to 1024, odd ones, too.
// Cost:     one comparison per step. With 128 threads it adds the same numbers in the same order.
__global__ void dot_half2_any_block(const __half2* d_a, const __half2* d_b, std::size_t n,
                                    float* d_y) {
  __shared__ __half2 s_sum[1024];
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  __half2 sum = __float2half2_rn(0.0f);
  for (std::size_t i = first; i < n / 2; i += threads) sum = __hfma2(d_a[i], d_b[i], sum);
  if (n % 2 != 0 && first == 0) sum = __hfma2(last_pair(d_a, n), last_pair(d_b, n), sum);
  s_sum[threadIdx.x] = sum;
  __syncthreads();  // s_sum is complete
  tree_of_any_size(s_sum);
  if (threadIdx.x == 0) atomicAdd(d_y, __low2float(s_sum[0]) + __high2float(s_sum[0]));
}
