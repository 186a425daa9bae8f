// Exercise agg_inc_keyed: tickets for many lists at once, each of which has an end.
//
// A thread has found an item, and wants to append it to list number `key`; or it has found nothing,
// and comes along with a negative key. Lists have `capacity` places each. Many items of a warp go
// to the same few lists: one atomic for each list is enough.
//
// Try it: meson test -C build agg_inc_keyed
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <course/ptx.cuh>

constexpr unsigned kNoPlace = 0xffff'ffffu;

/// A place in list `key`: a number below `capacity` that no other call gets for this list, or
/// kNoPlace if the list is full, or if the key is negative.
/// - counts[key] goes up by 1 with each call with that key, place or not: it tells what capacity
///   would have sufficed. It may hold something already; then its first places are taken.
/// - All places below `capacity` are given before anybody gets kNoPlace.
/// - Lanes with a negative key touch no counter.
/// - Any lanes of a warp may call it: all, some, one; in a branch, in both branches of an if, in a
///   loop that others have left. Blocks have any size and one, two or three dimensions. Who does
///   not call it does not help, and may wait elsewhere. Lanes that call it together pass the same
///   `counts` and `capacity`, and any keys, small or large.
/// - Lanes that come together make one atomic for each different key of theirs, and none for
///   negative keys. No shared memory, no barrier of the block.
/// - `counts` is in global memory, and no count comes to 2^32.
__device__ inline unsigned agg_inc_keyed(unsigned* counts, int key, unsigned capacity) {
  const unsigned peers = __match_any_sync(__activemask(), key);  // the lanes with my key
  if (key < 0) return kNoPlace;  // all of these lanes are each other's peers, and leave together
  const int leader = __ffs(static_cast<int>(peers)) - 1;
  const auto rank = static_cast<unsigned>(__popc(peers & course::lanemask_lt()));
  unsigned base = 0;
  if (rank == 0) base = atomicAdd(&counts[key], static_cast<unsigned>(__popc(peers)));
  base = __shfl_sync(peers, base, leader);
  return base + rank < capacity ? base + rank : kNoPlace;
}
