// Threads without a number leave the loop: the others wait in a barrier that not all threads reach,
// and warps shuffle without some of their lanes.
//
// GPU: may slip through: threads that have returned may count as arrived.
#pragma once

#include <cuda_runtime.h>

#include <course/collectives.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void tile_partition(const float* x, std::size_t n, float pivot, float* out,
                               std::size_t capacity, unsigned long long* used) {
  __shared__ unsigned long long s_used;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x; first < n; first += stride) {
    const std::size_t i = first + threadIdx.x;
    if (i >= n) return;
    const bool inside = i < n;
    const float value = inside ? x[i] : 0.0f;
    const bool low = inside && value < pivot;
    // Two barriers in here: all have read s_used of the tile before when they are over.
    const auto [lows_before, lows] = course::block_exclusive_scan(low ? 1u : 0u, course::Sum{});
    const auto numbers = static_cast<unsigned>(n - first < blockDim.x ? n - first : blockDim.x);
    if (threadIdx.x == 0) {
      s_used = atomicAdd(used, static_cast<unsigned long long>(numbers - lows) << 32 | lows);
    }
    __syncthreads();  // the tile has its places
    const std::size_t front = s_used & 0xffff'ffffu, back = s_used >> 32;
    if (low) out[front + lows_before] = value;
    if (inside && !low) out[capacity - 1 - (back + (threadIdx.x - lows_before))] = value;
  }
}
