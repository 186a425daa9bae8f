// The levels of the tree have no barrier between them: a warp reads what another has not written
// yet, and a race is reported.
//
// GPU: may slip through: the warps of a small block often run in the order that happens to be
// right.
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

  unsigned left = blockDim.x;
  while (left > 1) {
    // Rounded up: the middle one of an odd number has no partner, and stays where it is.
    const unsigned half = (left + 1) / 2;
    if (threadIdx.x + half < left) {
      s_max[threadIdx.x] = fmaxf(s_max[threadIdx.x], s_max[threadIdx.x + half]);
    }
    left = half;
  }
  if (threadIdx.x == 0) maxima[blockIdx.x] = s_max[0];
}
