// One warp does the work of the whole grid: right, and all others look on.
// GPU: may slip through: the answer is right, and nothing counts accesses there.
#pragma once

#include <cuda_runtime.h>
#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void warp_max_all_lanes(const float* x, std::size_t n, float* highest) {
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  const float nothing = -INFINITY;
  const unsigned lane = threadIdx.x % 32;
  const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (warp != 0) return;
  for (std::size_t first = 0; first < n; first += 32) {
    const std::size_t i = first + lane;
    float value = i < n ? x[i] : nothing;
    if (isnan(value)) value = nothing;
    for (int distance = 16; distance > 0; distance /= 2) {
      value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, distance));
    }
    if (i < n) highest[i] = value;
  }
}
