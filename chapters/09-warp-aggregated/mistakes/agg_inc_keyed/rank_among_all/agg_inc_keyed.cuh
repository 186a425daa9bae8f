// The rank is the one among all lanes that are here, not among those with the same key: places are
// left out, and the next group gets them once more.
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
  const auto rank = static_cast<unsigned>(__popc(active & course::lanemask_lt()));
  unsigned base = 0;
  if (course::lanemask_eq() == (peers & (0u - peers)))
    base = atomicAdd(&counts[key], static_cast<unsigned>(__popc(peers)));
  base = __shfl_sync(peers, base, leader);
  return base + rank < capacity ? base + rank : kNoPlace;
}
