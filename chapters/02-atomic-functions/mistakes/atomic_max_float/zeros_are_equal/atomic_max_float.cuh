// -0.0f < 0.0f is false in C++: a cell that holds -0.0f stays so when 0.0f comes.
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
    unsigned next = assumed;
    if (__uint_as_float(assumed) < value) next = __float_as_uint(value);
    if (value != value) next = kNanBits;
    old = atomicCAS(word, assumed, next);
  } while (old != assumed);
  return __uint_as_float(old);
}
