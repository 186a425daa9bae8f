// Compares numbers, to which -0.0 and 0.0 are equal: a 0.0 that comes to a -0.0 is not stored.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half atomic_max_half(__half* address, __half value) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto* const word = reinterpret_cast<unsigned*>(at & ~std::uintptr_t{3});
  const unsigned shift = (at & 2) != 0 ? 16 : 0;
  unsigned old = *static_cast<volatile unsigned*>(word);
  unsigned assumed;
  const unsigned bits = __half_as_ushort(value);
  __half found;
  do {
    assumed = old;
    found = __ushort_as_half(static_cast<unsigned short>(assumed >> shift));
    const bool raise = value > found || (__hisnan(found) && !__hisnan(value));
    const unsigned next = (assumed & ~(0xFFFFu << shift)) | (bits << shift);
    old = atomicCAS(word, assumed, raise ? next : assumed);
  } while (old != assumed);
  return found;
}
