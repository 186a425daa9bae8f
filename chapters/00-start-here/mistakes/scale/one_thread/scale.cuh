// One thread multiplies all elements, one after another, and the others look on: right values, and
// no use of the device.
//
// GPU: may slip through: the values are right, and nothing counts accesses there.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void scale(float* values, std::size_t n, float factor) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i > 0) return;
  for (std::size_t k = 0; k < n; ++k) values[k] *= factor;
}

inline void launch_scale(float* values, std::size_t n, float factor, unsigned block) {
  if (n == 0) return;  // a grid of no blocks is a launch error
  const auto blocks = static_cast<unsigned>((n + block - 1) / block);
  scale<<<blocks, block>>>(values, n, factor);
  CUDA_CHECK_LAUNCH();
}
