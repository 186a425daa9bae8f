// The place comes behind the lane's own numbers instead of in front of them: a prefix sum without
// subtracting the own value, so the last lane of a group gets places that nobody has reserved.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <course/exercise.cuh>

__device__ inline unsigned agg_add(unsigned* counter, unsigned value) {
  const auto group = cooperative_groups::coalesced_threads();
  unsigned sum = value;  // of all ranks up to mine, in the end
  for (unsigned distance = 1; distance < group.size(); distance *= 2) {
    const unsigned before = group.shfl_up(sum, distance);
    if (group.thread_rank() >= distance) sum += before;
  }
  const unsigned last = group.size() - 1;  // its sum is that of all
  unsigned base = 0;
  if (group.thread_rank() == last) base = atomicAdd(counter, sum);
  return group.shfl(base, static_cast<int>(last)) + sum;
}
