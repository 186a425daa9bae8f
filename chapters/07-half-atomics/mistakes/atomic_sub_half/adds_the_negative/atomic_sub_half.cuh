// Adds the negative value. The numbers are right, but it is no loop that could become a minimum.
//
// GPU: may slip through: the numbers are right, and nothing counts accesses there.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half atomic_sub_half(__half* address, __half value) {
  return atomicAdd(address, __hneg(value));
}
