// The loop of a CPU is in the kernel as it was: each thread multiplies all elements, and a race is
// reported. With an atomic in the loop, the factor would count as often as there are threads.
//
// GPU: may slip through: lanes that read the same old value write the same product.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void scale(float* values, std::size_t n, float factor) {
  for (std::size_t i = 0; i < n; ++i) values[i] *= factor;
}

inline void launch_scale(float* values, std::size_t n, float factor, unsigned block) {
  if (n == 0) return;
  scale<<<(n + block - 1) / block, block>>>(values, n, factor);
  CUDA_CHECK_LAUNCH();
}
