// Tests with one atomic and adds with another: two threads find room for one, and both add.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__device__ inline unsigned atomic_add_saturating(unsigned* address, unsigned value,
                                                 unsigned limit) {
  const unsigned seen = atomicAdd(address, 0u);
  const unsigned room = seen < limit ? limit - seen : 0;
  return atomicAdd(address, value < room ? value : room);
}
