// Throws away what atomicAdd returned, and reads the elements afterwards: a race, and not what was
// there before.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half2 add_pair(__half* address, __half first, __half second) {
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(__half2) == 0) {
    atomicAdd(reinterpret_cast<__half2*>(address), __halves2half2(first, second));
  } else {
    atomicAdd(address, first);
    atomicAdd(address + 1, second);
  }
  return __halves2half2(address[0] - first, address[1] - second);
}
