// Rounds up when it halves, so that nobody is left out, and never comes below 1: the loop does not
// end.
//
// GPU: may slip through: there the kernel runs for ever, and nothing says why.
#pragma once

#include <cmath>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void block_max(const float* x, std::size_t n, float* maxima) {
  extern __shared__ float s_max[];
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  float largest = -INFINITY;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    largest = fmaxf(largest, x[i]);
  }
  s_max[threadIdx.x] = largest;
  for (unsigned half = (blockDim.x + 1) / 2; half > 0; half = (half + 1) / 2) {
    __syncthreads();
    if (threadIdx.x < half && threadIdx.x + half < blockDim.x) {
      s_max[threadIdx.x] = fmaxf(s_max[threadIdx.x], s_max[threadIdx.x + half]);
    }
  }
  if (threadIdx.x == 0) maxima[blockIdx.x] = s_max[0];
}
