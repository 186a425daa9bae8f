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
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  const unsigned lane = threadIdx.x % 32;
  const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  // `first` is the same for all lanes of a warp, so all of them make the same number of rounds.
  for (std::size_t first = warp * 32; first < n; first += stride) {
    const std::size_t i = first + lane;
    const unsigned count = i < n ? counts[i] : 0;
    unsigned sum = count;  // up to and with this lane
    for (unsigned distance = 1; distance < 32; distance *= 2) {
      const unsigned before = __shfl_up_sync(kAllLanes, sum, distance);
      if (lane >= distance) sum += before;  // lanes without a partner got their own value back
    }
    if (i < n) offsets[i] = sum - count;  // integers: exact, also if the sum has wrapped around
    if (lane == 31) totals[first / 32] = sum;  // lanes past the end added 0
  }
}
