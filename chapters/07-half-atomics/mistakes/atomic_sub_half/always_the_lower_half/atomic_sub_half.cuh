// Takes the lower 16 bits of the word for every element. At odd addresses it changes the
// neighbour.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half atomic_sub_half(__half* address, __half value) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto* const word = reinterpret_cast<unsigned*>(at & ~std::uintptr_t{3});
  unsigned old = *static_cast<volatile unsigned*>(word), assumed;
  __half found;
  do {
    assumed = old;
    found = __ushort_as_half(static_cast<unsigned short>(assumed));
    const unsigned bits = __half_as_ushort(__hsub(found, value));
    old = atomicCAS(word, assumed, (assumed & 0xFFFF0000u) | bits);
  } while (old != assumed);
  return found;
}
