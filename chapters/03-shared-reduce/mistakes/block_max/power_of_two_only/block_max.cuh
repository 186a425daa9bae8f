// The chapter's tree as it is: an odd number rounds down when it is halved, and its last one is
// left out. Wrong for every block size that is no power of two.
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

  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      s_max[threadIdx.x] = fmaxf(s_max[threadIdx.x], s_max[threadIdx.x + half]);
    }
  }
  if (threadIdx.x == 0) maxima[blockIdx.x] = s_max[0];
}
