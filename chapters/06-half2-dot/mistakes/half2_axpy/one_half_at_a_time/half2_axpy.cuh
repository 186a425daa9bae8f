// Single halves, always: right, with twice the loads and stores that half2 takes.
//
// GPU: may slip through: the result is right, and nothing counts accesses there.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>

__global__ void half2_axpy(__half a, const __half* x, std::size_t n, __half* y) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = first; i < n; i += stride) y[i] = __hfma(a, x[i], y[i]);
}
