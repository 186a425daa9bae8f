// Packs the pair the wrong way round, with `second` in the low half: at multiples of 4 each element
// gets what was for the other one, while elsewhere all is right.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half2 add_pair(__half* address, __half first, __half second) {
  if (reinterpret_cast<std::uintptr_t>(address) % 4 == 0) {
    return atomicAdd(reinterpret_cast<__half2*>(address), __halves2half2(second, first));
  }
  const __half old_first = atomicAdd(address, first);
  const __half old_second = atomicAdd(address + 1, second);
  return __halves2half2(old_first, old_second);
}
