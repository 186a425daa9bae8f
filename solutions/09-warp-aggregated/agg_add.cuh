// Exercise agg_add: every lane adds a number of its own, with one atomic for all of them.
//
// Each thread produces 0, 1 or several items and writes them to one array, side by side. So it
// needs as many places as it has items, and atomicAdd(&used, items) returns where they begin. nvcc
// aggregates that by itself only if all 32 lanes of a warp take part, and only for 32 bits. Do it
// for any lanes.
//
// Try it: ./course check agg_add
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <course/exercise.cuh>

/// Does and returns what atomicAdd(counter, value) does, with one atomic for the lanes that call it
/// together.
/// - Any lanes of a warp may call it: all, some, one; in a branch, in both branches of an if, in a
///   loop that others have left. Blocks have any size and one, two or three dimensions. Lanes
///   that do not call it take no part, and may be waiting elsewhere. Lanes that call it together
///   pass the same counter.
/// - Each lane gets an old value of its own, as if the lanes that call it had called atomicAdd one
///   after another, in any order: the `value` numbers from the returned one on belong to it alone.
///   Lanes may pass 0. Sums are modulo 2^32.
/// - Lanes that call it together make one atomic, even if all of them pass 0. No shared memory, no
///   barrier of the block.
/// - `counter` is in global memory.
__device__ inline unsigned agg_add(unsigned* counter, unsigned value) {
  const auto group = cooperative_groups::coalesced_threads();
  unsigned sum = value;  // of all ranks up to mine, in the end
  for (unsigned distance = 1; distance < group.size(); distance *= 2) {
    const unsigned before = group.shfl_up(sum, distance);
    if (group.thread_rank() >= distance) sum += before;
  }
  const unsigned last = group.size() - 1;  // its sum is that of all
  unsigned base = 0;
  if (group.thread_rank() == last) base = atomicAdd(counter, sum);
  return group.shfl(base, static_cast<int>(last)) + (sum - value);
}
