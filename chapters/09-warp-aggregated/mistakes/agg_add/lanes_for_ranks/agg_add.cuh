// Shuffles by lanes where the group has gaps: `lane - distance` may be a lane that did not come,
// and what it would add is anything.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <course/exercise.cuh>

__device__ inline unsigned agg_add(unsigned* counter, unsigned value) {
  const auto group = cooperative_groups::coalesced_threads();
  unsigned sum = value;  // of all ranks up to mine, in the end
  for (unsigned distance = 1; distance < group.size(); distance *= 2) {
    const unsigned before = __shfl_up_sync(__activemask(), sum, distance);
    if (threadIdx.x % 32 >= distance) sum += before;
  }
  const unsigned last = group.size() - 1;  // its sum is that of all
  unsigned base = 0;
  if (group.thread_rank() == last) base = atomicAdd(counter, sum);
  return group.shfl(base, static_cast<int>(last)) + (sum - value);
}
