// The shuffle behind the atomic takes __activemask() again, and not the mask of those with the same
// key: lanes may have been parted meanwhile, and the leader may be missing.
//
// GPU: may slip through: lanes often come together again behind the branch.
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <course/ptx.cuh>

constexpr unsigned kNoPlace = 0xffff'ffffu;

__device__ inline unsigned agg_inc_keyed(unsigned* counts, int key, unsigned capacity) {
  if (key < 0) return kNoPlace;
  const unsigned mask = __match_any_sync(__activemask(), key);
  const unsigned lane = course::lane_id();
  const int leader = __ffs(mask) - 1;
  unsigned base = 0;
  if (lane == static_cast<unsigned>(leader)) base = atomicAdd(&counts[key], __popc(mask));
  base = __shfl_sync(__activemask(), base, leader);
  const unsigned place = base + __popc(mask & ((1u << lane) - 1));
  return place < capacity ? place : kNoPlace;
}
