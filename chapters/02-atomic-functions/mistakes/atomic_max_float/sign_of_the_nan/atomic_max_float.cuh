// Leaves a NaN as it is, so its sign bit decides: a positive one wins with bits of its own, a
// negative one is ignored.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kNanBits = 0x7FFF'FFFF;

__device__ inline float atomic_max_float(float* address, float value) {
  const int bits = __float_as_int(value);
  if (bits >= 0) return __int_as_float(atomicMax(reinterpret_cast<int*>(address), bits));
  return __uint_as_float(
      atomicMin(reinterpret_cast<unsigned*>(address), static_cast<unsigned>(bits)));
}
