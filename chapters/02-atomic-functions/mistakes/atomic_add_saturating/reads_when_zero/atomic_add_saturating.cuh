// Reads the cell with no atomic function where there is nothing to add: that read races with the
// additions of others, and no atomicCAS confirms it.
// GPU: may slip through: the hardware mostly reads a value that was there.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__device__ inline unsigned atomic_add_saturating(unsigned* address, unsigned value,
                                                 unsigned limit) {
  if (value == 0 || limit == 0) return *address;
  unsigned old = *static_cast<volatile unsigned*>(address), assumed;
  do {
    assumed = old;
    const unsigned room = assumed < limit ? limit - assumed : 0;
    old = atomicCAS(address, assumed, assumed + (value < room ? value : room));
  } while (old != assumed);
  return old;
}
