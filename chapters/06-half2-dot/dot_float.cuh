// In which type should halves be multiplied and summed?
// Rungs: dot_half2_products (products in half, sums in float), dot_float (both in float).
#pragma once

#include <cuda_fp16.h>

#include <course/collectives.cuh>
#include <cstddef>

#include "dot_half.cuh"
#include "grid.cuh"

// Question: what makes the sums accurate?
// Changes:  __hmul2 multiplies, floats accumulate; the block's sum by shuffles (chapter 05).
// Cost:     two conversions per pair. A product is still rounded to 11 bits, and can overflow.
__global__ void dot_half2_products(const __half2* d_a, const __half2* d_b, std::size_t n,
                                   float* d_y) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  float sum = 0.0f;
  for (std::size_t i = first; i < n / 2; i += threads) {
    const float2 products = __half22float2(__hmul2(d_a[i], d_b[i]));  // rounded to half, each
    sum += products.x + products.y;
  }
  if (n % 2 != 0 && first == 0) sum += __low2float(__hmul2(last_pair(d_a, n), last_pair(d_b, n)));
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_y, sum);
}

/// sum + a.x * b.x + a.y * b.y in float: the products are exact, 22 bits of 24.
__device__ __forceinline__ float fma_pair(__half2 a, __half2 b, float sum) {
  const float2 x = __half22float2(a), y = __half22float2(b);
  return fmaf(x.y, y.y, fmaf(x.x, y.x, sum));
}

// Question: and the products?
// Changes:  the factors become floats before they are multiplied: exact, and no overflow.
// Cost:     two more conversions per pair. Store in half, compute in float.
__global__ void dot_float(const __half2* d_a, const __half2* d_b, std::size_t n, float* d_y) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  float sum = 0.0f;
  for (std::size_t i = first; i < n / 2; i += threads) sum = fma_pair(d_a[i], d_b[i], sum);
  if (n % 2 != 0 && first == 0) sum = fma_pair(last_pair(d_a, n), last_pair(d_b, n), sum);
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_y, sum);
}
