// The last shuffle names all 32 lanes, as if the whole warp had come: it waits for lanes that are
// elsewhere, and they wait for these.
//
// GPU: may slip through: lanes that wait for each other in two places may be let go together.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <course/ptx.cuh>

__device__ inline unsigned agg_add(unsigned* counter, unsigned value) {
  const auto group = cooperative_groups::coalesced_threads();
  unsigned sum = value;  // of all ranks up to mine, in the end
  for (unsigned distance = 1; distance < group.size(); distance *= 2) {
    const unsigned before = group.shfl_up(sum, distance);
    if (group.thread_rank() >= distance) sum += before;
  }
  const unsigned last = group.size() - 1;  // its sum is that of all
  const unsigned leader = group.shfl(course::lane_id(), static_cast<int>(last));
  unsigned base = 0;
  if (group.thread_rank() == last) base = atomicAdd(counter, sum);
  return __shfl_sync(0xffff'ffffu, base, static_cast<int>(leader)) + (sum - value);
}
