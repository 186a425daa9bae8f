// Lanes without a number bring a 0 along: groups of numbers below zero get a maximum that none of
// them has.
#pragma once

#include <cuda_runtime.h>
#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void warp_max_all_lanes(const float* x, std::size_t n, float* highest) {
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  const float nothing = 0.0f;
  const unsigned lane = threadIdx.x % 32;
  const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t first = warp * 32; first < n; first += stride) {
    const std::size_t i = first + lane;
    float value = i < n ? x[i] : nothing;
    if (isnan(value)) value = nothing;
    for (int distance = 16; distance > 0; distance /= 2) {
      value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, distance));
    }
    if (i < n) highest[i] = value;
  }
}
