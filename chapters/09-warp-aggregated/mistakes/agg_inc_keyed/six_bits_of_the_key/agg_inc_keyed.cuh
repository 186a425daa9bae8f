// Finds the lanes with the same key by one ballot for each of six bits: right up to key 63, and
// lanes whose keys differ in a higher bit share a list.
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <course/ptx.cuh>

constexpr unsigned kNoPlace = 0xffff'ffffu;

__device__ inline unsigned agg_inc_keyed(unsigned* counts, int key, unsigned capacity) {
  const unsigned active = __activemask(), with_list = __ballot_sync(active, key >= 0);
  if (key < 0) return kNoPlace;
  unsigned peers = with_list;
  for (int bit = 0; bit < 6; ++bit) {
    const bool is_set = key >> bit & 1;
    const unsigned same = __ballot_sync(with_list, is_set);
    peers &= is_set ? same : ~same;
  }
  const int leader = __ffs(static_cast<int>(peers)) - 1;
  const auto rank = static_cast<unsigned>(__popc(peers & course::lanemask_lt()));
  unsigned base = 0;
  if (rank == 0) base = atomicAdd(&counts[key], static_cast<unsigned>(__popc(peers)));
  base = __shfl_sync(peers, base, leader);
  return base + rank < capacity ? base + rank : kNoPlace;
}
