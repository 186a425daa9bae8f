// Each thread takes one pair and stops, as if there were always enough of them: in a grid that is
// too small the rest of y stays as it was.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>

__global__ void half2_axpy(__half a, const __half* x, std::size_t n, __half* y) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const bool x_odd = reinterpret_cast<std::uintptr_t>(x) % 4 != 0;
  const bool y_odd = reinterpret_cast<std::uintptr_t>(y) % 4 != 0;
  if (x_odd == y_odd) {
    const std::size_t head = y_odd && n > 0 ? 1 : 0;
    const auto* x2 = reinterpret_cast<const __half2*>(x + head);
    auto* y2 = reinterpret_cast<__half2*>(y + head);
    const std::size_t pairs = (n - head) / 2;
    if (const std::size_t i = first; i < pairs) y2[i] = __hfma2(__half2half2(a), x2[i], y2[i]);
    if (first == 0) {
      if (head == 1) y[0] = __hfma(a, x[0], y[0]);
      if (head + 2 * pairs < n) y[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
    }
  } else {
    if (const std::size_t i = first; i < n) y[i] = __hfma(a, x[i], y[i]);
  }
}
