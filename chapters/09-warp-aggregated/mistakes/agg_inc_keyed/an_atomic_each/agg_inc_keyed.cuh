// Each lane goes for itself: right, and one atomic a lane instead of one a key.
//
// GPU: may slip through: nothing counts atomics there.
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <course/ptx.cuh>

constexpr unsigned kNoPlace = 0xffff'ffffu;

__device__ inline unsigned agg_inc_keyed(unsigned* counts, int key, unsigned capacity) {
  if (key < 0) return kNoPlace;
  const unsigned place = atomicAdd(&counts[key], 1u);
  return place < capacity ? place : kNoPlace;
}
