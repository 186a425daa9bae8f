// Reads the half, and stores the difference without atomicCAS: a race, and updates get lost.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half atomic_sub_half(__half* address, __half value) {
  const __half found = *address;
  *address = __hsub(found, value);
  return found;
}
