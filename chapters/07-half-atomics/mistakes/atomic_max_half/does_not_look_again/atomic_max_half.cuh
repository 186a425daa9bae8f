// Decides once that the value is larger, and then repeats atomicCAS until it is stored. By then a
// larger one may stand there, and is overwritten.
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
  __half found = __ushort_as_half(static_cast<unsigned short>(old >> shift));
  const unsigned bits = __half_as_ushort(value);
  bool raise = __hgt(value, found) || (__hisnan(found) && !__hisnan(value));
  if (__heq(value, found)) raise = bits == 0 && __half_as_ushort(found) != 0;
  do {
    assumed = old;
    const unsigned next = (assumed & ~(0xFFFFu << shift)) | (bits << shift);
    old = atomicCAS(word, assumed, raise ? next : assumed);
  } while (old != assumed);
  return __ushort_as_half(static_cast<unsigned short>(old >> shift));
}
