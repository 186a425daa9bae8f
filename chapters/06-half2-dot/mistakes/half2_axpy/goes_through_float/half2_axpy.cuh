// Computes in float and rounds that to half: rounded twice as well, wrong where the float lies in
// the middle between two halves.
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
  if (reinterpret_cast<std::uintptr_t>(x) % 4 != reinterpret_cast<std::uintptr_t>(y) % 4) {
    for (std::size_t i = first; i < n; i += stride)
      y[i] = __float2half_rn(fmaf(__half2float(a), __half2float(x[i]), __half2float(y[i])));
    return;
  }
  const std::size_t head = course::head_before_packs(y, n, sizeof(__half2));
  const std::size_t pairs = (n - head) / 2;
  const auto* const x2 = reinterpret_cast<const __half2*>(x + head);
  auto* const y2 = reinterpret_cast<__half2*>(y + head);
  const float of_a = __half2float(a);
  for (std::size_t i = first; i < pairs; i += stride) {
    const float2 of_x = __half22float2(x2[i]), of_y = __half22float2(y2[i]);
    y2[i] = __floats2half2_rn(fmaf(of_a, of_x.x, of_y.x), fmaf(of_a, of_x.y, of_y.y));
  }
  if (first == 0 && head == 1) y[0] = __hfma(a, x[0], y[0]);
  if (first == 0 && head + 2 * pairs < n) y[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
}
