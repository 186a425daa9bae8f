// One warp does the work of the whole grid: right, and the check asks how much the busiest warp
// does.
// GPU: may slip through: the ring is right, and nothing counts accesses there.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kEmpty = 0xFFFF'FFFF;

__global__ void log_events(const unsigned* events, std::size_t n, unsigned* ring, unsigned capacity,
                           unsigned* next, unsigned* overwritten) {
  if (blockIdx.x > 0 || threadIdx.x >= 32) return;
  for (std::size_t i = threadIdx.x; i < n; i += min(32u, blockDim.x)) {
    const unsigned place = atomicInc(next, capacity - 1);
    const unsigned before = atomicExch(&ring[place], events[i]);
    if (before != kEmpty) atomicAdd(overwritten, 1u);
  }
}
