// -0.0f >= 0 is true, but the bits of -0.0f are the smallest int: a cell that holds -5 stays -5
// when -0.0f comes.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kNanBits = 0x7FFF'FFFF;

__device__ inline float atomic_max_float(float* address, float value) {
  if (value != value) value = __uint_as_float(kNanBits);
  if (value >= 0.0f || value != value) {
    return __int_as_float(atomicMax(reinterpret_cast<int*>(address), __float_as_int(value)));
  }
  return __uint_as_float(atomicMin(reinterpret_cast<unsigned*>(address), __float_as_uint(value)));
}
