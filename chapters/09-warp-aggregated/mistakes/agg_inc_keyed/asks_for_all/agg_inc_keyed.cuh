// The leader asks for as many places as there are lanes, not as many as have its key: the counts
// are too high.
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <course/ptx.cuh>

constexpr unsigned kNoPlace = 0xffff'ffffu;

__device__ inline unsigned agg_inc_keyed(unsigned* counts, int key, unsigned capacity) {
  const unsigned active = __activemask();
  const unsigned peers = __match_any_sync(active, key);  // the lanes with my key
  if (key < 0) return kNoPlace;  // all of these lanes are each other's peers, and leave together
  const int leader = __ffs(static_cast<int>(peers)) - 1;
  const auto rank = static_cast<unsigned>(__popc(peers & course::lanemask_lt()));
  unsigned base = 0;
  if (rank == 0) base = atomicAdd(&counts[key], static_cast<unsigned>(__popc(active)));
  base = __shfl_sync(peers, base, leader);
  return base + rank < capacity ? base + rank : kNoPlace;
}
