// One thread does it all, one frame after the other: a request of one lane brings 32 bytes for 8.
// GPU: may slip through: the numbers are right, and only the CPU device counts sectors.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void mix_down(const float* frames, std::size_t n, float* mono) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (std::size_t i = 0; i < n; ++i) {
    const float2 pair = reinterpret_cast<const float2*>(frames)[i];
    mono[i] = 0.5f * (pair.x + pair.y);
  }
}
