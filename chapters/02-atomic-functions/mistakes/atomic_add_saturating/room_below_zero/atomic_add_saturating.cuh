// Asks for limit - old without looking which is larger: in a cell above the limit there is room
// for billions.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__device__ inline unsigned atomic_add_saturating(unsigned* address, unsigned value,
                                                 unsigned limit) {
  unsigned old = *static_cast<volatile unsigned*>(address), assumed;
  do {
    assumed = old;
    const unsigned room = limit - assumed;
    const unsigned next = assumed + (value < room ? value : room);
    old = atomicCAS(address, assumed, next);
  } while (old != assumed);
  return old;
}
