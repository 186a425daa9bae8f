// A thread adds up many elements of its own before the block's tree begins.
// Rungs: sum_grid_stride, sum_loads_in_flight.
#pragma once

#include <algorithm>
#include <course/error.cuh>
#include <cstddef>

#include "shared_tree.cuh"

/// The type of these kernels: it tells them from their launchers, which have the same names.
template <class T>
using SumKernel = void(const T* d_x, std::size_t n, T* d_y);

// Question: does a block have to pay for a tree and an atomic for every 256 elements?
// Changes:  as many blocks as run at once; each thread steps through x with the grid's width.
// Cost:     n loads; trees and atomics no longer grow with n. A thread waits for each of its loads.
template <class T>
__global__ void sum_grid_stride(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_y[kBlockSize];
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  T sum = T(0);
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    sum += d_x[i];  // neighbours read neighbours: thread t + 1 the element behind thread t's
  }
  s_y[threadIdx.x] = sum;
  tree_sum(s_y);
  if (threadIdx.x == 0) atomicAdd(d_y, s_y[0]);
}

/// Sets *d_y to x[0] + ... + x[n-1]; 0 if n == 0.
template <class T>
void sum_grid_stride(const T* d_x, std::size_t n, T* d_y, cudaStream_t stream) {
  static const unsigned most =
      course::resident_blocks<SumKernel<T>>(sum_grid_stride<T>, kBlockSize);
  CUDA_CHECK(cudaMemsetAsync(d_y, 0, sizeof(T), stream));
  if (n == 0) return;
  sum_grid_stride<T><<<std::min(blocks_for(n), most), kBlockSize, 0, stream>>>(d_x, n, d_y);
  CUDA_CHECK_LAUNCH();
}

/// Loads that a thread has under way at the same time.
constexpr unsigned kLoads = 8;

/// Elements that a block takes at once: kLoads for each thread, kBlockSize apart.
constexpr std::size_t kTile = std::size_t{kLoads} * kBlockSize;

/// What the calling thread adds up of x: its elements of every gridDim.x-th tile. Blocks have
/// kBlockSize threads. None of the kLoads loads needs the result of another, so all of them are on
/// their way before the first addition waits for one.
template <class T>
__device__ T thread_sum(const T* d_x, std::size_t n) {
  const std::size_t tiles = n / kTile;  // the full ones
  T sum = T(0);
  T x[kLoads];
  std::size_t tile = blockIdx.x;
  for (; tile < tiles; tile += gridDim.x) {
    const T* const d_mine = d_x + tile * kTile + threadIdx.x;
    for (unsigned k = 0; k < kLoads; ++k) x[k] = d_mine[k * kBlockSize];
    for (unsigned k = 0; k < kLoads; ++k) sum += x[k];
  }
  if (tile == tiles) {  // the tile that x ends in: one block meets it
    for (unsigned k = 0; k < kLoads; ++k) {
      const std::size_t i = tile * kTile + k * kBlockSize + threadIdx.x;
      x[k] = i < n ? d_x[i] : T(0);
    }
    for (unsigned k = 0; k < kLoads; ++k) sum += x[k];
  }
  return sum;
}

// Question: why does a GPU at full occupancy still wait for memory?
// Changes:  a thread asks for 8 elements before it adds the first.
// Cost:     8 registers a thread; 64 KiB under way on a multiprocessor instead of 8.
template <class T>
__global__ void sum_loads_in_flight(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_y[kBlockSize];
  s_y[threadIdx.x] = thread_sum(d_x, n);
  tree_sum(s_y);
  if (threadIdx.x == 0) atomicAdd(d_y, s_y[0]);
}

/// Sets *d_y to x[0] + ... + x[n-1]; 0 if n == 0.
template <class T>
void sum_loads_in_flight(const T* d_x, std::size_t n, T* d_y, cudaStream_t stream) {
  static const unsigned most =
      course::resident_blocks<SumKernel<T>>(sum_loads_in_flight<T>, kBlockSize);
  CUDA_CHECK(cudaMemsetAsync(d_y, 0, sizeof(T), stream));
  if (n == 0) return;
  const unsigned blocks = std::min(blocks_for(n, kTile), most);
  sum_loads_in_flight<T><<<blocks, kBlockSize, 0, stream>>>(d_x, n, d_y);
  CUDA_CHECK_LAUNCH();
}
