// If a list has no room for all lanes with that key, none of them gets a place, and the last places
// stay free.
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <course/ptx.cuh>

constexpr unsigned kNoPlace = 0xffff'ffffu;

__device__ inline unsigned agg_inc_keyed(unsigned* counts, int key, unsigned capacity) {
  if (key < 0) return kNoPlace;
  const unsigned mask = __match_any_sync(__activemask(), key);
  const int leader = __ffs(mask) - 1;
  const unsigned lane = course::lane_id();
  unsigned base = 0;
  if (lane == static_cast<unsigned>(leader)) base = atomicAdd(&counts[key], __popc(mask));
  base = __shfl_sync(mask, base, leader);
  if (base + __popc(mask) > capacity) return kNoPlace;
  return base + __popc(mask & ((1u << lane) - 1));
}
