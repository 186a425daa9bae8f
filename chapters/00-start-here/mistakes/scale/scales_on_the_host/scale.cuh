// The host function loops over device memory itself: the device stands idle, and such an access is
// reported.
//
// GPU: may slip through: the host's access crashes the program there, which is no verdict of a
// check.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void scale(float* values, std::size_t n, float factor) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) values[i] *= factor;
}

inline void launch_scale(float* values, std::size_t n, float factor, unsigned block) {
  if (n == 0) return;  // a grid of no blocks is a launch error
  (void)block;
  for (std::size_t i = 0; i < n; ++i) values[i] *= factor;
}
