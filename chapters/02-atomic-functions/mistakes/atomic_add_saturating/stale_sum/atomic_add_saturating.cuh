// Computes the new value before the loop: what others add until atomicCAS succeeds is
// overwritten.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__device__ inline unsigned atomic_add_saturating(unsigned* address, unsigned value,
                                                 unsigned limit) {
  unsigned old = *static_cast<volatile unsigned*>(address), assumed;
  const unsigned room = old < limit ? limit - old : 0;
  const unsigned next = old + (value < room ? value : room);
  do {
    assumed = old;
    old = atomicCAS(address, assumed, next);
  } while (old != assumed);
  return old;
}
