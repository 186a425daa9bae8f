// Returns what it stored instead of what it found.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__device__ inline unsigned atomic_add_saturating(unsigned* address, unsigned value,
                                                 unsigned limit) {
  unsigned old = *static_cast<volatile unsigned*>(address), assumed;
  do {
    assumed = old;
    const unsigned room = assumed < limit ? limit - assumed : 0;
    const unsigned next = assumed + (value < room ? value : room);
    old = atomicCAS(address, assumed, next);
  } while (old != assumed);
  return old + (old < limit ? (value < limit - old ? value : limit - old) : 0);
}
