// Leaves out NaN by asking for finite numbers: +infinity is a number, too, and the largest of all.
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
    if (isfinite(x[i])) largest = fmaxf(largest, x[i]);
  }
  s_max[threadIdx.x] = largest;

  unsigned left = blockDim.x;
  while (left > 1) {
    // Rounded up: the middle one of an odd number has no partner, and stays where it is.
    const unsigned half = (left + 1) / 2;
    __syncthreads();  // what this level reads, other threads wrote on the level before
    if (threadIdx.x + half < left) {
      s_max[threadIdx.x] = fmaxf(s_max[threadIdx.x], s_max[threadIdx.x + half]);
    }
    left = half;
  }
  if (threadIdx.x == 0) maxima[blockIdx.x] = s_max[0];
}
