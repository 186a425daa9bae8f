// The stride is the block's size, not the grid's: every block does the whole work again, and writes
// the same numbers, so that only the count of sectors shows it.
// GPU: may slip through: the numbers are right, and only the CPU device counts sectors.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void mix_down(const float* frames, std::size_t n, float* mono) {
  const float2* const pairs = reinterpret_cast<const float2*>(frames);
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) {
    const float2 pair = pairs[i];
    mono[i] = 0.5f * (pair.x + pair.y);
  }
}
