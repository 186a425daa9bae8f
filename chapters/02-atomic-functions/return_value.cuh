// Does it cost anything to use what an atomic function returns?
// Rungs: count_arrivals (RED), count_and_see (ATOM).
// n threads add 1 to a few counters. The first rung ignores what that returns. In the second one a
// thread learns from it whether it was the last one at its counter.
#pragma once

#include <cstddef>

#include "grid.cuh"

// Question: how many threads arrived at each counter?
// Changes:  the result is not used, so the compiler emits RED: the warp sends, and goes on.
// Cost:     n atomics; nothing is sent back.
__global__ void count_arrivals(std::size_t n, std::size_t mask, unsigned* d_count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&d_count[i & mask], 1u);
}

// Question: which thread was the last one at its counter?
// Changes:  the returned value is used, so the compiler emits ATOM: each thread waits for it.
// Cost:     the same atomics, and a round trip for each.
__global__ void count_and_see(std::size_t n, std::size_t mask, unsigned per_counter,
                              unsigned* d_count, unsigned* d_last) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned before_me = atomicAdd(&d_count[i & mask], 1u);
  // One thread per counter.
  if (before_me + 1 == per_counter) d_last[i & mask] = static_cast<unsigned>(i);
}
