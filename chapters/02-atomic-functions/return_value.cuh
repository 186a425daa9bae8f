// Does it cost anything to look at what an atomic function returns?
// Rungs: count_arrivals (RED), count_and_see (ATOM).
// n threads arrive at a few doors. The first rung counts them; the second also learns who came
// last.
#pragma once

#include <cstddef>

#include "grid.cuh"

// Question: how many came to each door?
// Changes:  the result is not used, so the compiler emits RED: the warp sends, and goes on.
// Cost:     n atomics one way.
__global__ void count_arrivals(std::size_t n, std::size_t mask, unsigned* d_count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&d_count[i & mask], 1u);
}

// Question: which thread was the last one at its door?
// Changes:  the returned value is used, so the compiler emits ATOM: each thread waits for it.
// Cost:     the same atomics, and the way back.
__global__ void count_and_see(std::size_t n, std::size_t mask, unsigned per_door, unsigned* d_count,
                              unsigned* d_last) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned before_me = atomicAdd(&d_count[i & mask], 1u);
  if (before_me + 1 == per_door) d_last[i & mask] = static_cast<unsigned>(i);  // one thread a door
}
