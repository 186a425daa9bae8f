// Adds nothing where not everything fits: the cell never gets full.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__device__ inline unsigned atomic_add_saturating(unsigned* address, unsigned value,
                                                 unsigned limit) {
  unsigned old = *static_cast<volatile unsigned*>(address), assumed;
  do {
    assumed = old;
    const bool fits = assumed <= limit && value <= limit - assumed;
    const unsigned next = fits ? assumed + value : assumed;
    old = atomicCAS(address, assumed, next);
  } while (old != assumed);
  return old;
}
