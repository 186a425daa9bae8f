// Thread 0 alone knows where the places begin; the others write as if the tile were the first one.
#pragma once

#include <cuda_runtime.h>

#include <course/collectives.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void tile_partition(const float* x, std::size_t n, float pivot, float* out,
                               std::size_t capacity, unsigned long long* used) {
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x; first < n;
       first += std::size_t{gridDim.x} * blockDim.x) {
    const std::size_t i = first + threadIdx.x;
    const float value = i < n ? x[i] : 0.0f;
    const bool low = i < n && value < pivot;
    const auto scan = course::block_exclusive_scan(low ? 1u : 0u, course::Sum{});
    const unsigned highs =
        static_cast<unsigned>(n - first < blockDim.x ? n - first : blockDim.x) - scan.total;
    unsigned long long base = 0;
    if (threadIdx.x == 0)
      base = atomicAdd(used, scan.total | static_cast<unsigned long long>(highs) << 32);
    __syncthreads();
    const unsigned front = static_cast<unsigned>(base), back = static_cast<unsigned>(base >> 32);
    if (low) {
      out[front + scan.before] = value;
    } else if (i < n) {
      out[capacity - 1 - back - (threadIdx.x - scan.before)] = value;
    }
    __syncthreads();
  }
}
