// fmaxf() prefers a number to a NaN: the cell forgets that there was one.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kNanBits = 0x7FFF'FFFF;

__device__ inline float atomic_max_float(float* address, float value) {
  auto* const word = reinterpret_cast<unsigned*>(address);
  unsigned old = *static_cast<volatile unsigned*>(word), assumed;
  do {
    assumed = old;
    const float seen = __uint_as_float(assumed);
    const bool zeros = seen == 0.0f && value == 0.0f;
    const float next = zeros ? seen + value : fmaxf(seen, value);
    old = atomicCAS(word, assumed, next == next ? __float_as_uint(next) : kNanBits);
  } while (old != assumed);
  return __uint_as_float(old);
}
