// Rounds the address down to a multiple of 4. From an odd half on, both values land one element
// too early.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half2 add_pair(__half* address, __half first, __half second) {
  const auto at = reinterpret_cast<std::uintptr_t>(address) & ~std::uintptr_t{3};
  return atomicAdd(reinterpret_cast<__half2*>(at), __halves2half2(first, second));
}
