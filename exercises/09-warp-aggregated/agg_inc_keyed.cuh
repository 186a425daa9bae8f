// Exercise agg_inc_keyed: places in many lists at once, each of which can become full.
//
// A thread has found an item, and wants to append it to list number `key`; or it has found nothing,
// and calls with a negative key. Each list has `capacity` places. Many items of a warp go to the
// same few lists: one atomic for each list is enough.
//
// Try it: ./course check agg_inc_keyed
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <course/ptx.cuh>

NOT_STARTED  // delete this line when you begin

constexpr unsigned kNoPlace = 0xffff'ffffu;

/// A place in list `key`: a number below `capacity` that no other call gets for this list, or
/// kNoPlace if the list is full, or if the key is negative.
/// - counts[key] grows by 1 with each call with that key, whether the call gets a place or not: it
///   tells which capacity would have been enough. It may hold something already; then the first
///   places of the list are taken.
/// - All places below `capacity` are given before a call gets kNoPlace.
/// - Lanes with a negative key touch no counter.
/// - Any lanes of a warp may call it: all, some, one; in a branch, in both branches of an if, in a
///   loop that others have left. Blocks have any size and one, two or three dimensions. Lanes
///   that do not call it take no part, and may be waiting elsewhere. Lanes that call it together
///   pass the same `counts` and `capacity`, and any keys, small or large.
/// - Lanes that call it together make one atomic for each different key of theirs, and none for
///   negative keys. No shared memory, no barrier of the block.
/// - `counts` is in global memory, and no count reaches 2^32.
__device__ inline unsigned agg_inc_keyed(unsigned* counts, int key, unsigned capacity) {
  // TODO(you): a place in list `key`, with one atomic for each different key.
  (void)counts, (void)key, (void)capacity;  // not used yet: delete this line when they are
  return kNoPlace;
}
