// Leaves after an ordinary read if the value is too small: that read races with the atomics of
// others, and what it returns is confirmed by nothing.
// GPU: may slip through: the hardware mostly reads a value that was there.
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
  unsigned old = *word;
  while (key(bits) > key(old)) {
    const unsigned assumed = old;
    old = atomicCAS(word, assumed, bits);
    if (old == assumed) break;
  }
  return __uint_as_float(old);
}
