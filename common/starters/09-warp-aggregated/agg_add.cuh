// Exercise agg_add: every lane adds a number of its own, with one atomic for all of them.
//
// Threads produce 0, 1 or several items each, and write them to one array, one thread's items side
// by side: each needs as many places as it has items. atomicAdd(&used, items) says where they
// begin. nvcc aggregates that by itself only where all 32 lanes of a warp come, and only for 32
// bits. You do it for any lanes.
//
// Try it: meson test -C build agg_add
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>

NOT_STARTED  // delete this line when you begin

/// What atomicAdd(counter, value) does and returns, with one atomic for the lanes that come
/// together.
/// - Any lanes of a warp may call it: all, some, one; in a branch, in both branches of an if, in a
///   loop that others have left. Blocks have any size and one, two or three dimensions. Who does
///   not call it does not help, and may wait elsewhere. Lanes that call it together pass the same
///   counter.
/// - Each lane gets an old value of its own, as if the lanes that call it had called atomicAdd one
///   after another, in any order: the `value` numbers from the returned one on belong to it alone.
///   Lanes may pass 0. Sums are modulo 2^32.
/// - Lanes that come together make one atomic, also if all of them pass 0. No shared memory, no
///   barrier of the block.
/// - `counter` is in global memory.
__device__ inline unsigned agg_add(unsigned* counter, unsigned value) {
  // TODO(you): whose values come before mine? Who goes, with how much, and how do the others learn
  // where it went?
  (void)counter, (void)value;  // not used yet: delete this line when they are
  return 0;
}
