// Asks only whether the value is larger. Nothing is larger than a NaN, so a cell that holds one
// keeps it for ever.
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
    bool raise = value > found;
    if (value == found) raise = bits == 0 && __half_as_ushort(found) != 0;
    const unsigned next = (assumed & ~(0xFFFFu << shift)) | (bits << shift);
    old = atomicCAS(word, assumed, raise ? next : assumed);
  } while (old != assumed);
  return found;
}
