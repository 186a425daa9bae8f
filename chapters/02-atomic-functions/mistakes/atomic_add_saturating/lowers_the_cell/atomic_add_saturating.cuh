// Cuts a cell that holds more than this limit already: it may have been filled under a larger
// one.
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
    const unsigned next = fits ? assumed + value : limit;
    old = atomicCAS(address, assumed, next);
  } while (old != assumed);
  return old;
}
