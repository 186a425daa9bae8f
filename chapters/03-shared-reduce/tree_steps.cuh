// How should the threads of a block walk through a tree? The classic steps, one change each.
// Rungs: tree_interleaved, tree_interleaved_dense, block_sums (shared_tree.cuh), tree_first_add,
// tree_warp_tail, tree_unrolled.
// Each block stores its sum in d_sums[blockIdx.x], without an atomic, so that only the tree differs.
// The steps follow M. Harris, "Optimizing Parallel Reduction in CUDA" (README.md).
#pragma once

#include <cstddef>

#include "shared_tree.cuh"

constexpr unsigned kWarpThreads = 32;

// Question: what is the most obvious tree?
// Changes:  pairs of neighbours first: in each level every second thread of the level before adds.
// Cost:     divergence: a warp executes a level even if one of its 32 lanes has work. And % is slow.
template <class T>
__global__ void tree_interleaved(const T* d_x, std::size_t n, T* d_sums) {
  __shared__ T s_y[kBlockSize];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  s_y[t] = i < n ? d_x[i] : T(0);
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    __syncthreads();  // the level before is complete
    if (t % (2 * distance) == 0) s_y[t] += s_y[t + distance];
  }
  if (t == 0) d_sums[blockIdx.x] = s_y[0];
}

// Question: can the threads with work be neighbours, so that whole warps have none?
// Changes:  thread t adds the pair at 2 * distance * t; the sums stay where they were.
// Cost:     bank conflicts: 32 lanes that are 2 * distance apart use 16, 8, ... banks only.
template <class T>
__global__ void tree_interleaved_dense(const T* d_x, std::size_t n, T* d_sums) {
  __shared__ T s_y[kBlockSize];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + t;
  s_y[t] = i < n ? d_x[i] : T(0);
  for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
    __syncthreads();  // the level before is complete
    const unsigned at = 2 * distance * t;
    if (at < blockDim.x) s_y[at] += s_y[at + distance];
  }
  if (t == 0) d_sums[blockIdx.x] = s_y[0];
}

/// The sum of two elements that are blockDim.x apart: the first addition of a block that takes
/// 2 * blockDim.x elements.
template <class T>
__device__ T first_add(const T* d_x, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * 2 * blockDim.x + threadIdx.x;
  return (i < n ? d_x[i] : T(0)) + (i + blockDim.x < n ? d_x[i + blockDim.x] : T(0));
}

// Question: half of the threads have no work in the first level; why launch them?
// Changes:  the sequential tree of block_sums; each thread loads two elements and adds them first.
// Cost:     half as many blocks and trees for the same elements.
template <class T>
__global__ void tree_first_add(const T* d_x, std::size_t n, T* d_sums) {
  __shared__ T s_y[kBlockSize];
  s_y[threadIdx.x] = first_add(d_x, n);
  tree_sum(s_y);
  if (threadIdx.x == 0) d_sums[blockIdx.x] = s_y[0];
}

/// The last five levels, by the block's first warp: s_y[0] becomes s_y[0] + ... + s_y[31].
template <class T>
__device__ void warp_tail(T* s_y) {
  for (unsigned half = kWarpThreads / 2; half > 0; half /= 2) {
    __syncwarp();  // the level before is complete, for the lanes of this warp
    if (threadIdx.x < half) s_y[threadIdx.x] += s_y[threadIdx.x + half];
  }
}

// Question: does the whole block have to wait for a level that one warp computes?
// Changes:  once 32 sums are left, the first warp goes on alone, with __syncwarp().
// Cost:     three block barriers instead of eight.
template <class T>
__global__ void tree_warp_tail(const T* d_x, std::size_t n, T* d_sums) {
  __shared__ T s_y[kBlockSize];
  s_y[threadIdx.x] = first_add(d_x, n);
  for (unsigned half = blockDim.x / 2; half >= kWarpThreads; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) s_y[threadIdx.x] += s_y[threadIdx.x + half];
  }
  if (threadIdx.x < kWarpThreads) warp_tail(s_y);
  if (threadIdx.x == 0) d_sums[blockIdx.x] = s_y[0];
}

// Question: what does the loop itself cost?
// Changes:  its bounds are constants, and #pragma unroll asks the compiler to write the levels out.
// Cost:     more code; no counter, no comparison, no branch back. One block size per kernel.
template <class T>
__global__ void tree_unrolled(const T* d_x, std::size_t n, T* d_sums) {
  __shared__ T s_y[kBlockSize];
  s_y[threadIdx.x] = first_add(d_x, n);
#pragma unroll
  for (unsigned half = kBlockSize / 2; half >= kWarpThreads; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) s_y[threadIdx.x] += s_y[threadIdx.x + half];
  }
  if (threadIdx.x < kWarpThreads) {
#pragma unroll
    for (unsigned half = kWarpThreads / 2; half > 0; half /= 2) {
      __syncwarp();
      if (threadIdx.x < half) s_y[threadIdx.x] += s_y[threadIdx.x + half];
    }
  }
  if (threadIdx.x == 0) d_sums[blockIdx.x] = s_y[0];
}
