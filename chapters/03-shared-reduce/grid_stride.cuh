// A thread sums many elements of its own before the block's tree begins.
// Rungs: sum_grid_stride, sum_loads_in_flight.
#pragma once

#include <cstddef>

#include "shared_tree.cuh"

// Question: does a block have to pay for a tree and an atomic for every 256 elements?
// Changes:  as many blocks as are resident; each thread steps through x with the grid's width.
// Cost:     n loads; trees and atomics no longer grow with n. A thread waits for each of its loads.
template <class T>
__global__ void sum_grid_stride(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_y[kBlockSize];
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  T sum = T(0);
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    sum += d_x[i];  // neighbours read neighbours: thread t + 1 the element after thread t's
  }
  s_y[threadIdx.x] = sum;
  tree_sum(s_y);
  if (threadIdx.x == 0) atomicAdd(d_y, s_y[0]);
}

/// Loads that a thread has in flight at the same time.
constexpr unsigned kLoads = 8;

/// Elements that a block takes at once: kLoads for each thread, kBlockSize apart.
constexpr std::size_t kTile = std::size_t{kLoads} * kBlockSize;

/// The calling thread's share of the sum: its elements of every gridDim.x-th tile. Blocks have
/// kBlockSize threads. None of the kLoads loads needs the result of another, so all of them are
/// in flight before the first addition waits for one.
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
// Changes:  a thread issues 8 loads before it adds the first element.
// Cost:     8 registers per thread; 64 KiB in flight on an SM instead of 8.
template <class T>
__global__ void sum_loads_in_flight(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_y[kBlockSize];
  s_y[threadIdx.x] = thread_sum(d_x, n);
  tree_sum(s_y);
  if (threadIdx.x == 0) atomicAdd(d_y, s_y[0]);
}
