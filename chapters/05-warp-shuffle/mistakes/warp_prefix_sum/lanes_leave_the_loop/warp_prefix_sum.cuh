// Every lane has its own loop, so lanes behind the end do not come to the shuffles of the last
// group, and its total is never written.
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
  for (std::size_t i = warp * 32 + lane; i < n; i += stride) {
    const unsigned count = counts[i];
    unsigned sum = count;
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const unsigned before = __shfl_up_sync(kAllLanes, sum, distance);
      if (lane >= distance) sum += before;
    }
    offsets[i] = sum - count;
    if (lane == 31) totals[i / 32] = sum;
  }
}
