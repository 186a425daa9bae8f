// An atomic read and an atomic store are two steps: a larger value that comes in between is
// overwritten.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kNanBits = 0x7FFF'FFFF;

__device__ inline float atomic_max_float(float* address, float value) {
  auto* const word = reinterpret_cast<unsigned*>(address);
  const auto key = [](unsigned bits) {
    return (bits & 0x8000'0000u) != 0 ? ~bits : bits | 0x8000'0000u;
  };
  const unsigned bits = value != value ? kNanBits : __float_as_uint(value);
  const unsigned old = atomicOr(word, 0u);
  if (key(bits) > key(old)) atomicExch(word, bits);
  return __uint_as_float(old);
}
