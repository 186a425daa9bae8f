// Loads, adds and stores the pair with one instruction each, where the address allows it. Three
// instructions are not one atomic step: a race.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half2 add_pair(__half* address, __half first, __half second) {
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(__half2) == 0) {
    auto* const pair = reinterpret_cast<__half2*>(address);
    const __half2 before = *pair;
    *pair = __hadd2(before, __halves2half2(first, second));
    return before;
  }
  const __half before_first = atomicAdd(address, first);
  const __half before_second = atomicAdd(address + 1, second);
  return __halves2half2(before_first, before_second);
}
