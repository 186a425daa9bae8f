// Every lane has its own loop, so in the last group the lanes behind the end are gone while the
// others shuffle with a mask of all 32: the values of the missing lanes are undefined.
// GPU: may slip through: what a GPU gives for a missing lane is undefined, and may be harmless.
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
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = warp * 32 + lane; i < n; i += stride) {
    float value = x[i];
    if (isnan(value)) value = nothing;
    for (int distance = 16; distance > 0; distance /= 2) {
      value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, distance));
    }
    highest[i] = value;
  }
}
