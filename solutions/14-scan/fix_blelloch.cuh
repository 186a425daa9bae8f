// Exercise fix_blelloch: find the bugs, and fix them.
//
// scan_shares() is Blelloch's scan: each block takes a share of the array, and finds for each of its
// elements the sum of those before it. On the way up the tree each node becomes the sum of its two
// halves; on the way down each node learns what is before it. Its author has tried it with one warp of
// 32 threads, and looked at `out`. Others use it, and complain:
// - "The sums are right, but all totals are 0."
// - "With blocks of 256 threads the sums differ from run to run."
// - "With 64 threads per block each share has its sums. With 96 most of them are wrong."
//
// Try it: ./course check fix_blelloch
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kMostThreads = 1024;

/// Block b has a share of 2 * blockDim.x elements, which begins at x[2 * blockDim.x * b]; the last
/// shares may be shorter, or empty. The grid has a share for every element, or more shares. Writes
/// - out[i] = the sum of those elements that come before x[i] in its share, 0 for the first of a
///   share, for every i < n;
/// - totals[b] = the sum of all elements of share b, 0 if it is empty, for every block.
/// Sums are modulo 2^32, as unsigned addition is.
/// - Right for every one-dimensional grid of blocks of 1 to 1024 threads: 96, or 1000, too. n may be
///   0, and more than 2^32. out may be x.
/// - The threads of a block share the work. Each element is read once from global memory, and each
///   result is written once.
__global__ void scan_shares(const unsigned* x, std::size_t n, unsigned* out, unsigned* totals) {
  __shared__ unsigned s_tree[2 * kMostThreads];
  const unsigned share = 2 * blockDim.x;
  const std::size_t first = std::size_t{blockIdx.x} * share;
  unsigned size = 2;  // of the tree: its halves have halves only if this is a power of two
  while (size < share) size *= 2;
  for (unsigned i = threadIdx.x; i < size; i += blockDim.x) {
    s_tree[i] = i < share && first + i < n ? x[first + i] : 0;
  }
  unsigned distance = 1;
  for (unsigned nodes = size / 2; nodes > 0; nodes /= 2, distance *= 2) {
    __syncthreads();            // the level below is complete
    if (threadIdx.x < nodes) {  // the block has a thread for each node of the share
      const unsigned right = (2 * threadIdx.x + 2) * distance - 1;
      s_tree[right] += s_tree[right - distance];
    }
  }
  if (threadIdx.x == 0) {  // this thread made the last addition
    totals[blockIdx.x] = s_tree[size - 1];
    s_tree[size - 1] = 0;  // nothing is before the share
  }
  for (unsigned nodes = 1; nodes < size; nodes *= 2) {
    distance /= 2;
    __syncthreads();  // the nodes of this level know what is before them
    if (threadIdx.x < nodes) {
      const unsigned right = (2 * threadIdx.x + 2) * distance - 1;
      const unsigned before = s_tree[right];
      s_tree[right] = before + s_tree[right - distance];
      s_tree[right - distance] = before;
    }
  }
  __syncthreads();  // every element knows what is before it
  for (unsigned i = threadIdx.x; i < share; i += blockDim.x) {
    if (first + i < n) out[first + i] = s_tree[i];
  }
}
