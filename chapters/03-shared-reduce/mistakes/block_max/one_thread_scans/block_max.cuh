// Thread 0 looks at all of the shared memory alone: right, and as slow as a block of one thread.
// The loads are counted.
//
// GPU: may slip through: the maxima are right, and nothing is counted there.
#pragma once

#include <cmath>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void block_max(const float* x, std::size_t n, float* maxima) {
  extern __shared__ float s_max[];
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  float largest = -INFINITY;  // the maximum of nothing: any number is larger
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    largest = fmaxf(largest, x[i]);
  }
  s_max[threadIdx.x] = largest;

  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned t = 1; t < blockDim.x; ++t) s_max[0] = fmaxf(s_max[0], s_max[t]);
  }
  if (threadIdx.x == 0) maxima[blockIdx.x] = s_max[0];
}
