// The first block counts all atoms, and the others look on: right, and as slow as one block is. The
// check says how many loads a warp makes.
//
// GPU: may slip through: the counts are right, and nothing counts loads there.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr int kDegrees = 12;  // 0, 1, ..., 10, and "11 or more"

__global__ void degree_histogram(const int* counts, std::size_t n, unsigned* atoms_with) {
  __shared__ unsigned s_atoms_with[kDegrees];
  for (unsigned k = threadIdx.x; k < kDegrees; k += blockDim.x) s_atoms_with[k] = 0;
  __syncthreads();  // all are 0 before anybody counts
  const unsigned begin = blockIdx.x == 0 ? threadIdx.x : static_cast<unsigned>(n);
  for (std::size_t i = begin; i < n; i += blockDim.x) {
    atomicAdd(&s_atoms_with[min(counts[i], kDegrees - 1)], 1u);
  }
  __syncthreads();  // all have counted
  for (unsigned k = threadIdx.x; k < kDegrees; k += blockDim.x) {
    if (s_atoms_with[k] > 0) atomicAdd(&atoms_with[k], s_atoms_with[k]);
  }
}
