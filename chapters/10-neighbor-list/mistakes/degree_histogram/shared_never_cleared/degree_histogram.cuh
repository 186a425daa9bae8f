// The shared counters are never set to 0: they begin with whatever the block before left there.
//
// GPU: may slip through: fresh shared memory is often 0.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr int kDegrees = 12;  // 0, 1, ..., 10, and "11 or more"

__global__ void degree_histogram(const int* counts, std::size_t n, unsigned* atoms_with) {
  __shared__ unsigned s_atoms_with[kDegrees];
  __syncthreads();  // all are 0 before anybody counts
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd(&s_atoms_with[min(counts[i], kDegrees - 1)], 1u);
  }
  __syncthreads();  // all have counted
  for (unsigned k = threadIdx.x; k < kDegrees; k += blockDim.x) {
    if (s_atoms_with[k] > 0) atomicAdd(&atoms_with[k], s_atoms_with[k]);
  }
}
