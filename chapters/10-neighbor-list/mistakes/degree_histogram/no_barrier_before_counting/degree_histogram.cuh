// Nobody waits until the shared counters are 0: a thread counts, and another one zeroes what it
// counted.
//
// GPU: may slip through: the first warp zeroes, and comes first nearly every time.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr int kDegrees = 12;  // 0, 1, ..., 10, and "11 or more"

__global__ void degree_histogram(const int* counts, std::size_t n, unsigned* atoms_with) {
  __shared__ unsigned s_atoms_with[kDegrees];
  for (unsigned k = threadIdx.x; k < kDegrees; k += blockDim.x) s_atoms_with[k] = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd(&s_atoms_with[min(counts[i], kDegrees - 1)], 1u);
  }
  __syncthreads();  // all have counted
  for (unsigned k = threadIdx.x; k < kDegrees; k += blockDim.x) {
    if (s_atoms_with[k] > 0) atomicAdd(&atoms_with[k], s_atoms_with[k]);
  }
}
