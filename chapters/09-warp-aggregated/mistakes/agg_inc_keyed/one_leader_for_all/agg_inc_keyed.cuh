// All lanes that come together form one group, whatever their keys: the leader's list gets
// everything.
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <course/ptx.cuh>

constexpr unsigned kNoPlace = 0xffff'ffffu;

__device__ inline unsigned agg_inc_keyed(unsigned* counts, int key, unsigned capacity) {
  if (key < 0) return kNoPlace;
  const unsigned peers = __activemask();
  const int leader = __ffs(static_cast<int>(peers)) - 1;
  const auto rank = static_cast<unsigned>(__popc(peers & course::lanemask_lt()));
  unsigned base = 0;
  if (rank == 0) base = atomicAdd(&counts[key], static_cast<unsigned>(__popc(peers)));
  base = __shfl_sync(peers, base, leader);
  return base + rank < capacity ? base + rank : kNoPlace;
}
