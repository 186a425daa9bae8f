// Returns at once if a is 0, as axpy of BLAS does: 0 times infinity is lost, which makes NaN of y.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>

__global__ void half2_axpy(__half a, const __half* x, std::size_t n, __half* y) {
  if (__half2float(a) == 0.0f) return;  // "y + 0 is y"
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  if (reinterpret_cast<std::uintptr_t>(x) % 4 != reinterpret_cast<std::uintptr_t>(y) % 4) {
    // One of the two is always off a multiple of 4.
    for (std::size_t i = first; i < n; i += stride) y[i] = __hfma(a, x[i], y[i]);
    return;
  }
  const std::size_t head = course::head_before_packs(y, n, sizeof(__half2));  // 0 or 1
  const std::size_t pairs = (n - head) / 2;
  const auto* const x2 = reinterpret_cast<const __half2*>(x + head);
  auto* const y2 = reinterpret_cast<__half2*>(y + head);
  const __half2 a2 = __half2half2(a);
  for (std::size_t i = first; i < pairs; i += stride) y2[i] = __hfma2(a2, x2[i], y2[i]);
  // One thread of the whole grid has the half in front of the pairs, and the one behind them.
  if (first == 0 && head == 1) y[0] = __hfma(a, x[0], y[0]);
  if (first == 0 && head + 2 * pairs < n) y[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
}
