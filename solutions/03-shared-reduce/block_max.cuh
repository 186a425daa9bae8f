// Exercise block_max: the largest number of each block, for blocks of any size.
//
// The kernel began as the chapter's tree, with fmaxf instead of +. It passed a test with blocks of
// 256 threads and positive numbers. Its users complain:
// - "With blocks of 96 threads some maxima are too small. With 128 they are right."
// - "Most elements of a long array never count."
// - "In the last block all of my numbers are negative, and its maximum is said to be 0."
//
// Try it: ./course check block_max
#pragma once

#include <cmath>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

/// Sets maxima[b], for every block b of the grid, to the largest of the block's elements of
/// x[0..n-1].
/// - Element i belongs to block (i / blockDim.x) % gridDim.x, as in a grid-stride loop: thread t of
///   block b takes i = b * blockDim.x + t, and every (gridDim.x * blockDim.x)-th one from there.
/// - NaN is not a number and never the largest: fmaxf(a, b) returns the other one.
/// - A block without any number writes -INFINITY: its elements are all NaN, or it has none.
/// - blockDim.x is any number from 1 to 1024. gridDim.x is any number. n may be 0, or more than
///   2^32. The launch gives a block blockDim.x floats of dynamic shared memory: that is enough.
/// - It is a tree: at most ceil(log2(blockDim.x)) + 2 barriers per block, no atomics, and no thread
///   reads all of the shared memory. Each thread loads its own elements.
__global__ void block_max(const float* x, std::size_t n, float* maxima) {
  extern __shared__ float s_max[];
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  float largest = -INFINITY;  // the maximum of nothing: any number is larger
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    largest = fmaxf(largest, x[i]);
  }
  s_max[threadIdx.x] = largest;

  unsigned left = blockDim.x;
  while (left > 1) {
    // Rounded up: with an odd number of values the middle one has no partner, and stays.
    const unsigned half = (left + 1) / 2;
    __syncthreads();  // what this level reads, other threads wrote on the level before
    if (threadIdx.x + half < left) {
      s_max[threadIdx.x] = fmaxf(s_max[threadIdx.x], s_max[threadIdx.x + half]);
    }
    left = half;
  }
  if (threadIdx.x == 0) maxima[blockIdx.x] = s_max[0];
}
