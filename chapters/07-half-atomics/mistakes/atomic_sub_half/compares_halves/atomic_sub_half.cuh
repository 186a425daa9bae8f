// Compares the pair of halves as numbers to see whether atomicCAS has stored: a NaN differs from
// itself, so beside a NaN the loop never ends.
//
// GPU: may slip through: the loop would block the GPU for ever, so this one does not run there.
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
  __half found;
  bool stored = false;
  do {
    assumed = old;
    found = __ushort_as_half(static_cast<unsigned short>(assumed >> shift));
    const unsigned bits = __half_as_ushort(__hsub(found, value));
    old = atomicCAS(word, assumed, (assumed & ~(0xFFFFu << shift)) | (bits << shift));
    const auto low = [](unsigned w) { return __ushort_as_half(static_cast<unsigned short>(w)); };
    stored = low(old) == low(assumed) && low(old >> 16) == low(assumed >> 16);
  } while (!stored);
  return found;
}
