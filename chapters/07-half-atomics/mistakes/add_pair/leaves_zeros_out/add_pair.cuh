// Skips a value that is zero. But 0.0 added to a -0.0 makes it 0.0, and the returned value has to
// come from somewhere.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half2 add_pair(__half* address, __half first, __half second) {
  if (first == __float2half(0.0f) && second == __float2half(0.0f)) {
    const auto* const there = static_cast<volatile unsigned short*>(static_cast<void*>(address));
    return __halves2half2(__ushort_as_half(there[0]), __ushort_as_half(there[1]));
  }
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(__half2) == 0) {
    return atomicAdd(reinterpret_cast<__half2*>(address), __halves2half2(first, second));
  }
  const __half before_first = atomicAdd(address, first);
  const __half before_second = atomicAdd(address + 1, second);
  return __halves2half2(before_first, before_second);
}
