// Computes the sum in 32 bits: beyond them it is small again, and below the limit.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__device__ inline unsigned atomic_add_saturating(unsigned* address, unsigned value,
                                                 unsigned limit) {
  unsigned old = *static_cast<volatile unsigned*>(address), assumed;
  do {
    assumed = old;
    const unsigned sum = assumed + value;
    const unsigned next = assumed > limit ? assumed : sum < limit ? sum : limit;
    old = atomicCAS(address, assumed, next);
  } while (old != assumed);
  return old;
}
