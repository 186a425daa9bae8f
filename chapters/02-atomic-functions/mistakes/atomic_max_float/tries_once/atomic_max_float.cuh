// Gives up if another thread was faster: its value is lost.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kNanBits = 0x7FFF'FFFF;

__device__ inline float atomic_max_float(float* address, float value) {
  auto* const word = reinterpret_cast<unsigned*>(address);
  const unsigned old = *static_cast<volatile unsigned*>(word);
  const auto key = [](unsigned bits) {
    return (bits & 0x8000'0000u) != 0 ? ~bits : bits | 0x8000'0000u;
  };
  const unsigned bits = value != value ? kNanBits : __float_as_uint(value);
  return __uint_as_float(atomicCAS(word, old, key(bits) > key(old) ? bits : old));
}
