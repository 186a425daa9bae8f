// Adds, and takes back what was too much: others find the cell above the limit, and see it fall.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__device__ inline unsigned atomic_add_saturating(unsigned* address, unsigned value,
                                                 unsigned limit) {
  const unsigned old = atomicAdd(address, value);
  const unsigned sum = old + value;
  const unsigned top = old > limit ? old : limit;
  if (sum > top || sum < old) atomicSub(address, sum - top);
  return old;
}
