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

NOT_STARTED  // delete this line when you begin

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
  // TODO(you): which lanes have the same key? One of them asks for all.
  (void)counts, (void)key, (void)capacity;  // not used yet: delete this line when they are
  return kNoPlace;
}
