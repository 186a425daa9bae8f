// Only 16 lanes of each warp work: not one sector more, but twice the requests, and half of the
// threads idle.
//
// GPU: may slip through: the numbers are right, and only the CPU device counts requests.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void mix_down(const float* frames, std::size_t n, float* mono) {
  const float2* const pairs = reinterpret_cast<const float2*>(frames);
  const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x / 2;
  const unsigned lane = threadIdx.x % 32;
  if (lane >= 16) return;
  for (std::size_t i = 16 * warp + lane; i < n; i += stride) {
    const float2 pair = pairs[i];
    mono[i] = 0.5f * (pair.x + pair.y);
  }
}
