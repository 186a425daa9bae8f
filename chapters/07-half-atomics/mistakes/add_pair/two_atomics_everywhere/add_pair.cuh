// Adds the two halves one by one at every address: twice as many atomics as needed where the
// address is a multiple of 4.
//
// GPU: may slip through: the sums are right, and nothing counts atomics there.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half2 add_pair(__half* address, __half first, __half second) {
  const __half before_first = atomicAdd(address, first);
  const __half before_second = atomicAdd(address + 1, second);
  return __halves2half2(before_first, before_second);
}
