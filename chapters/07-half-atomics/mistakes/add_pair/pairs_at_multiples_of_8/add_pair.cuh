// Uses the pair at multiples of 8 only, because sizeof(__half2) is taken for 8. Every second
// aligned address makes two atomics.
//
// GPU: may slip through: the sums are right, and nothing counts atomics there.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half2 add_pair(__half* address, __half first, __half second) {
  if (reinterpret_cast<std::uintptr_t>(address) % 8 == 0) {
    return atomicAdd(reinterpret_cast<__half2*>(address), __halves2half2(first, second));
  }
  const __half before_first = atomicAdd(address, first);
  const __half before_second = atomicAdd(address + 1, second);
  return __halves2half2(before_first, before_second);
}
