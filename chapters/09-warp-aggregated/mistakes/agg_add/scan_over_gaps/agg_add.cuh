// The scan of chapter 05 with the mask of those who came: lane - 1 is not always one of them, and
// then the shuffle gives no value.
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>

__device__ inline unsigned agg_add(unsigned* counter, unsigned value) {
  const unsigned mask = __activemask();
  const unsigned lane = threadIdx.x % 32;
  unsigned sum = value;
  for (unsigned d = 1; d < 32; d *= 2) {
    const unsigned other = __shfl_up_sync(mask, sum, d);
    if (lane >= d) sum += other;
  }
  const int last = 31 - __clz(mask);
  unsigned base = 0;
  if (lane == static_cast<unsigned>(last)) base = atomicAdd(counter, sum);
  return __shfl_sync(mask, base, last) + sum - value;
}
