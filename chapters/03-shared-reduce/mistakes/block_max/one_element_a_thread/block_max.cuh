// Every thread looks at one element only: wrong as soon as the grid has fewer threads than there
// are elements.
#pragma once

#include <cmath>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void block_max(const float* x, std::size_t n, float* maxima) {
  extern __shared__ float s_max[];
  float largest = -INFINITY;  // the maximum of nothing: any number is larger
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) largest = fmaxf(largest, x[i]);
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
