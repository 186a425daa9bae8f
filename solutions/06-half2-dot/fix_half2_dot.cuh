// Exercise fix_half2_dot: find the bugs, and fix them.
//
// A stereo recording is an array of half2: the left channel in the low halves, the right one in
// the high halves. How similar are two recordings? For each channel, sum the products of their
// samples.
//
// The kernel below has been tested, its author says: a second kernel, with operators instead of
// intrinsics, gives the same results. Yet users complain:
// - "The loud part of my recording comes late, and the result is 0."
// - "With 64 or 256 threads per block the result is not the one that I get with 128. It also
//   differs from run to run."
// - "A tone that lasts twice as long gives twice the result, up to a point. Beyond it the result
//   does not grow any more, or it is infinite."
// - "Even of short recordings the fourth digit is wrong."
//
// Try it: ./course check fix_half2_dot
#pragma once

#include <cuda_fp16.h>

#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

/// results[b] = block b's part of the two dot products: .x of the left channels, .y of the right
/// ones. Summed over all blocks, which the caller does in double, they are those of all n samples.
/// - Any n, also 0, and more than 2^32. a and b begin at any multiple of 4 bytes, not only
///   of 8, and may be the same array.
/// - Right for every one-dimensional grid of blocks of 32, 64, 96, ..., 1024 threads.
/// - results has one element for each block. It may hold anything before the launch. Every block
///   sets its own element; a block without samples sets it to {0, 0}. Nothing else is written.
/// - The products are exact, and summed in float: each channel is as good as a float sum of n
///   products can be. (A float holds the product of two halves exactly, a half does not.)
/// - Infinities and NaN act as in float arithmetic, 0 * infinity included, and only in their own
///   channel.
/// - Each sample is read once, as a half2, the 32 lanes of a warp side by side. The threads share
///   the work. No atomics on global memory.
__global__ void half2_dot(const __half2* a, const __half2* b, std::size_t n, float2* results) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  float2 sum = make_float2(0.0f, 0.0f);
  // A product of block size and block number: two threads never begin at the same sample.
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const float2 x = __half22float2(a[i]), y = __half22float2(b[i]);  // before they are multiplied
    sum.x = fmaf(x.x, y.x, sum.x);
    sum.y = fmaf(x.y, y.y, sum.y);
  }
  // Of any number of warps, and in float: a tree of half2 for 128 threads is neither.
  sum.x = course::block_reduce(sum.x, course::Sum{});
  sum.y = course::block_reduce(sum.y, course::Sum{});
  if (threadIdx.x == 0) results[blockIdx.x] = sum;
}
