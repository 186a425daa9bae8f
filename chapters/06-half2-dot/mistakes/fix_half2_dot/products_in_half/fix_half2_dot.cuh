// Sums are floats, products are not: 300 * 300 is infinite, and the last digits are rounded away.
#pragma once

#include <cuda_fp16.h>

#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void half2_dot(const __half2* a, const __half2* b, std::size_t n, float2* results) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float2 sum = make_float2(0.0f, 0.0f);
  for (std::size_t i = first; i < n; i += stride) {
    const float2 products = __half22float2(__hmul2(a[i], b[i]));
    sum.x += products.x;
    sum.y += products.y;
  }
  sum.x = course::block_reduce(sum.x, course::Sum{});
  sum.y = course::block_reduce(sum.y, course::Sum{});
  if (threadIdx.x == 0) results[blockIdx.x] = sum;
}
