// Shifts a 32-bit count by 32: the type of the left side decides, and nothing gets into the high
// half of the word.
#pragma once

#include <cuda_runtime.h>

#include <course/collectives.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void tile_partition(const float* x, std::size_t n, float pivot, float* out,
                               std::size_t capacity, unsigned long long* used) {
  __shared__ unsigned long long s_base;
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x; first < n;
       first += std::size_t{gridDim.x} * blockDim.x) {
    const std::size_t i = first + threadIdx.x;
    const float value = i < n ? x[i] : 0.0f;
    const bool low = i < n && value < pivot;
    const auto scan = course::block_exclusive_scan(low ? 1u : 0u, course::Sum{});
    const unsigned highs =
        static_cast<unsigned>(n - first < blockDim.x ? n - first : blockDim.x) - scan.total;
    if (threadIdx.x == 0) s_base = atomicAdd(used, scan.total + (highs << 32));
    __syncthreads();
    const unsigned front = static_cast<unsigned>(s_base),
                   back = static_cast<unsigned>(s_base >> 32);
    if (low) {
      out[front + scan.before] = value;
    } else if (i < n) {
      out[capacity - 1 - back - (threadIdx.x - scan.before)] = value;
    }
    __syncthreads();
  }
}
