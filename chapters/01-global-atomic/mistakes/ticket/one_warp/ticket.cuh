// One warp does the work of the whole grid, neatly side by side: right, and the check asks how much
// the busiest warp does.
//
// GPU: may slip through: the list is right, and nothing counts accesses there.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void append_loud(const float* samples, std::size_t n, float limit, unsigned* hits,
                            unsigned capacity, unsigned* required) {
  if (blockIdx.x > 0 || threadIdx.x >= 32) return;
  for (std::size_t i = threadIdx.x; i < n; i += 32) {
    if (samples[i] > limit) {
      const unsigned ticket = atomicAdd(required, 1u);
      if (ticket < capacity) hits[ticket] = static_cast<unsigned>(i);
    }
  }
}
