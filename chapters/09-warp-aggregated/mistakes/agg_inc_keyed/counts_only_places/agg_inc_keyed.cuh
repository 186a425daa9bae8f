// A list that is full is left alone: the count stays at the capacity, and does not tell what would
// have sufficed.
//
// GPU: may slip through: lanes that left and lanes that wait for their leader may hang for ever.
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <course/ptx.cuh>

constexpr unsigned kNoPlace = 0xffff'ffffu;

__device__ inline unsigned agg_inc_keyed(unsigned* counts, int key, unsigned capacity) {
  const unsigned peers = __match_any_sync(__activemask(), key);  // the lanes with my key
  if (key < 0) return kNoPlace;  // all of these lanes are each other's peers, and leave together
  const int leader = __ffs(static_cast<int>(peers)) - 1;
  const auto rank = static_cast<unsigned>(__popc(peers & course::lanemask_lt()));
  if (atomicAdd(&counts[key], 0u) >= capacity) return kNoPlace;  // adds nothing: reads
  unsigned base = 0;
  if (rank == 0) base = atomicAdd(&counts[key], static_cast<unsigned>(__popc(peers)));
  base = __shfl_sync(peers, base, leader);
  return base + rank < capacity ? base + rank : kNoPlace;
}
