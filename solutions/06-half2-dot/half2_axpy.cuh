// Exercise half2_axpy: y = a * x + y on halves, two at a time, from anywhere to anywhere.
//
// One instruction multiplies and adds two halves if they are a half2: four bytes at an address that
// is a multiple of four. An array of halves may begin at any multiple of two, x at another one than
// y, and its length may be odd.
//
// Try it: ./course check half2_axpy
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>

/// y[i] = a * x[i] + y[i] for i < n.
/// - Rounded once, as __hfma and __hfma2 do it: to the nearest half, ties to even. The check knows
///   the bits. (NaN is any NaN.)
/// - For any a, x and y, 0, -0, infinities and NaN included: 0 times infinity is NaN, -0 + 0 is 0.
/// - Any n, 0 included, and more than 2^32. x and y begin at any multiple of 2 bytes, and do not
///   overlap.
/// - Nothing before or after the n halves of x and of y is read or written.
/// - Right for every one-dimensional grid of blocks of whole warps. The threads share the work, and
///   each half of x and y is read once, each of y written once.
/// - If x and y are equally far from a multiple of 4 bytes (0 or 2), all but one half at either end
///   go by half2 (or wider), the 32 lanes of a warp side by side: 64 halves per load or store. The
///   CPU device counts the accesses that the source has: copy a half2 before you use its members.
/// - If not, single halves will do, the lanes of a warp side by side.
/// - Plain loads and stores, no atomics.
__global__ void half2_axpy(__half a, const __half* x, std::size_t n, __half* y) {
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
  // One thread of the whole grid has the half before the pairs, and the one after them.
  if (first == 0 && head == 1) y[0] = __hfma(a, x[0], y[0]);
  if (first == 0 && head + 2 * pairs < n) y[n - 1] = __hfma(a, x[n - 1], y[n - 1]);
}
