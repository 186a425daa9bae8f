// How many atomics per nanosecond does a GPU execute, depending on the number of addresses?
// Rungs: add_to_addresses, for float and int, on 1, 2, 4 ... 2^20 addresses; add_to_one_known.
// Every thread issues one atomicAdd of 1 and reads nothing: only the addresses differ.
#pragma once

#include <cstddef>

#include "grid.cuh"

/// Float sums of ones are exact up to here, so a lost update shows.
constexpr std::size_t kExactFloatCounts = std::size_t{1} << 24;

// Question: what does contention for an address cost?
// Changes:  thread i uses d_y[i & mask], and the mask comes at run time: one kernel for all points.
// Cost:     n atomics in as many queues as there are addresses, until something else is the limit.
template <class T>
__global__ void add_to_addresses(std::size_t n, std::size_t mask, T* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&d_y[i & mask], T(1));
}

// Question: why is one address sometimes cheap?
// Changes:  the compiler can see that all lanes have the same address. For integers ptxas then adds
//           the warp's values and sends one atomic; for float it does not.
// Cost:     for int one atomic per warp, for float still one per lane.
template <class T>
__global__ void add_to_one_known(std::size_t n, T* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(d_y, T(1));
}
