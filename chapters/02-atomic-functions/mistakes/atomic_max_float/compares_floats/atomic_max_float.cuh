// Compares floats to see whether atomicCAS has stored: a NaN differs from itself, so the loop
// never ends once the cell holds one.
// GPU: may slip through: the loop would block the GPU for ever, so this one does not run there.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kNanBits = 0x7FFF'FFFF;

__device__ inline float atomic_max_float(float* address, float value) {
  auto* const word = reinterpret_cast<unsigned*>(address);
  float old = __uint_as_float(*static_cast<volatile unsigned*>(word)), assumed;
  do {
    assumed = old;
    const unsigned bits = __float_as_uint(assumed);
    const bool negative = (bits & 0x8000'0000u) != 0;
    unsigned next = bits;
    if (assumed < value || (assumed == value && negative)) next = __float_as_uint(value);
    if (value != value || assumed != assumed) next = kNanBits;
    old = __uint_as_float(atomicCAS(word, bits, next));
  } while (old != assumed);
  return old;
}
