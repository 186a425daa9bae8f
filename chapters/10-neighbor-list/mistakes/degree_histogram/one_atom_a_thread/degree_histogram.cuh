// Each thread takes one atom and stops: in a grid that is too small the other atoms are not
// counted.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr int kDegrees = 12;  // 0, 1, ..., 10, and "11 or more"

__global__ void degree_histogram(const int* counts, std::size_t n, unsigned* atoms_with) {
  __shared__ unsigned s_count[kDegrees];
  for (unsigned k = threadIdx.x; k < kDegrees; k += blockDim.x) s_count[k] = 0;
  __syncthreads();
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&s_count[min(counts[i], kDegrees - 1)], 1u);
  __syncthreads();
  for (unsigned k = threadIdx.x; k < kDegrees; k += blockDim.x) {
    if (s_count[k] > 0) atomicAdd(&atoms_with[k], s_count[k]);
  }
}
