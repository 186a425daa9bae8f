// Returns what the element holds afterwards, in the place of what was there before.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half atomic_sub_half(__half* address, __half value) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto* const word = reinterpret_cast<unsigned*>(at & ~std::uintptr_t{3});
  const unsigned shift = (at & 2) != 0 ? 16 : 0;
  unsigned old = *static_cast<volatile unsigned*>(word);
  unsigned assumed;
  __half next;
  do {
    assumed = old;
    next = __hsub(__ushort_as_half(static_cast<unsigned short>(assumed >> shift)), value);
    const unsigned bits = __half_as_ushort(next);
    old = atomicCAS(word, assumed, (assumed & ~(0xFFFFu << shift)) | (bits << shift));
  } while (old != assumed);
  return next;
}
