// Loads two samples at once, 8 bytes: a recording may begin at a multiple of 4 that is none of 8.
#pragma once

#include <cuda_fp16.h>

#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/pack.cuh>
#include <cstddef>

__global__ void half2_dot(const __half2* a, const __half2* b, std::size_t n, float2* results) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  float2 sum = make_float2(0.0f, 0.0f);
  const auto add = [&sum](__half2 p, __half2 q) {
    const float2 x = __half22float2(p), y = __half22float2(q);
    sum.x = fmaf(x.x, y.x, sum.x);
    sum.y = fmaf(x.y, y.y, sum.y);
  };
  for (std::size_t i = first; i < n / 2; i += stride) {
    const auto p = course::load_pack<2>(a + 2 * i), q = course::load_pack<2>(b + 2 * i);
    add(p.elem[0], q.elem[0]);
    add(p.elem[1], q.elem[1]);
  }
  if (first == 0 && n % 2 == 1) add(a[n - 1], b[n - 1]);
  sum.x = course::block_reduce(sum.x, course::Sum{});
  sum.y = course::block_reduce(sum.y, course::Sum{});
  if (threadIdx.x == 0) results[blockIdx.x] = sum;
}
