// Exercise warp_prefix_sum: where does each lane's output begin?
//
// Thread i has produced counts[i] items, and a warp's items are to be stored one after the other.
// A lane's first item comes after those of all lanes before it: its offset is an exclusive prefix
// sum. The warp's total is the number of items that it stores.
//
// Try it: ./course check warp_prefix_sum
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// counts[0..n-1] is cut into groups of 32: group g is counts[32 g] to counts[32 g + 31]. The last
/// one may be shorter, with 1 to 31 elements. n may be 0, and more than 2^31. Writes
/// - offsets[i] = the sum of the counts in the group of i that come before i, without counts[i]:
///   an exclusive prefix sum, 0 for the first of each group, for every i < n;
/// - totals[g] = the sum of all counts of group g, for each of the (n + 31) / 32 groups.
/// Sums are modulo 2^32, as unsigned addition is.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads, also one that has
///   fewer threads than there are elements, or more.
/// - Every lane that the mask of a warp function names calls that function, or has returned from the kernel.
/// - Uses no shared memory, no atomics and no barrier, and loads every element once: a warp reads a
///   group with one load.
__global__ void warp_prefix_sum(const unsigned* counts, std::size_t n, unsigned* offsets,
                                unsigned* totals) {
  // TODO(you): compute the offsets and the totals.
  (void)counts, (void)n, (void)offsets, (void)totals;  // not used yet: delete this line
}
