// What does contention for an address cost? The same number of atomics, three layouts.
// Rungs: add_to_one_address, add_to_256_bins, add_to_own_address.
// Every thread issues one atomicAdd of 1.0f and reads nothing: only the addresses differ.
#pragma once

#include <cstddef>

#include "grid.cuh"

// Why float: at one address nvcc sums the integers of a warp before it sends one atomic, which
// would spoil the comparison. Sums of 1.0f are exact up to here:
constexpr std::size_t kExactFloatCounts = std::size_t{1} << 24;

constexpr std::size_t kContentionBins = 256;

// Question: what does the worst case cost?
// Changes:  no loads and no arithmetic, only the atomics; all use d_y[0].
// Cost:     one queue for the whole GPU, n long.
__global__ void add_to_one_address(std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&d_y[0], 1.0f);
}

// Question: how much do a few addresses help?
// Changes:  thread i uses d_y[i % 256]: the lanes of a warp no longer meet, the blocks still do.
// Cost:     256 queues, each n / 256 long.
__global__ void add_to_256_bins(std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&d_y[i % kContentionBins], 1.0f);
}

// Question: what does an atomic cost when no other thread uses the address?
// Changes:  thread i uses d_y[i].
// Cost:     no queue: the memory traffic of n floats. (A plain += would also be right here.)
__global__ void add_to_own_address(std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&d_y[i], 1.0f);
}
