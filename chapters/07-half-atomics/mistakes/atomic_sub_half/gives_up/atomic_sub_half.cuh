// Stops after 100 turns, so that no loop is endless. Of many threads at one word some come too late
// more often than that, and their subtraction is lost.
//
// GPU: may slip through: how often a thread comes too late is a matter of timing there.
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
  int turns = 0;
  do {
    assumed = old;
    found = __ushort_as_half(static_cast<unsigned short>(assumed >> shift));
    const unsigned bits = __half_as_ushort(__hsub(found, value));
    old = atomicCAS(word, assumed, (assumed & ~(0xFFFFu << shift)) | (bits << shift));
  } while (old != assumed && ++turns < 100);
  return found;
}
