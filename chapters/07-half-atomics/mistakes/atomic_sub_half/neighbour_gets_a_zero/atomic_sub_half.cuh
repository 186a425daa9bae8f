// Subtracts pairs, and adds 0.0 to the neighbour. That is not nothing: a -0.0 becomes 0.0, and a
// NaN gets other bits.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half atomic_sub_half(__half* address, __half value) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto* const word = reinterpret_cast<unsigned*>(at & ~std::uintptr_t{3});
  const unsigned shift = (at & 2) != 0 ? 16 : 0;
  unsigned old = *static_cast<volatile unsigned*>(word);
  unsigned assumed;
  const __half minus = __hneg(value), zero = __float2half(0.0f);
  const __half2 step = shift == 0 ? __halves2half2(minus, zero) : __halves2half2(zero, minus);
  __half found;
  do {
    assumed = old;
    const __half low = __ushort_as_half(static_cast<unsigned short>(assumed));
    const __half high = __ushort_as_half(static_cast<unsigned short>(assumed >> 16));
    found = shift == 0 ? low : high;
    const __half2 next = __hadd2(__halves2half2(low, high), step);
    const unsigned low_bits = __half_as_ushort(__low2half(next));
    const unsigned high_bits = __half_as_ushort(__high2half(next));
    old = atomicCAS(word, assumed, low_bits | (high_bits << 16));
  } while (old != assumed);
  return found;
}
