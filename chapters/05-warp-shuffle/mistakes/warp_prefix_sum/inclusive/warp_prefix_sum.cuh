// Counts the own element: an inclusive prefix sum where an exclusive one is asked for.
#pragma once

#include <cuda_runtime.h>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void warp_prefix_sum(const unsigned* counts, std::size_t n, unsigned* offsets,
                                unsigned* totals) {
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  const unsigned lane = threadIdx.x % 32;
  const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t first = warp * 32; first < n; first += stride) {
    const std::size_t i = first + lane;
    const unsigned count = i < n ? counts[i] : 0;
    unsigned sum = count;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const unsigned before = __shfl_up_sync(kAllLanes, sum, distance);
      if (lane >= distance) sum += before;
    }
    if (i < n) offsets[i] = sum;
    if (lane == 31) totals[first / 32] = sum;
  }
}
