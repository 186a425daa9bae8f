// Leaves the group that is cut short to one lane: right, but up to 31 loads one after the other,
// for want of a 0 that the missing lanes could bring.
// GPU: may slip through: the answer is right, only the loads are too many, and a GPU does not
// count them here.
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
    if (first + 32 > n) {
      if (lane > 0) continue;
      unsigned sum = 0;
      for (std::size_t i = first; i < n; ++i) {
        offsets[i] = sum;
        sum += counts[i];
      }
      totals[first / 32] = sum;
      continue;
    }
    const unsigned count = counts[first + lane];
    unsigned sum = count;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const unsigned before = __shfl_up_sync(kAllLanes, sum, distance);
      if (lane >= distance) sum += before;
    }
    offsets[first + lane] = sum - count;
    if (lane == 31) totals[first / 32] = sum;
  }
}
