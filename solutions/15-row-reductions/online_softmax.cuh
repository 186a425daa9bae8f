// Exercise online_softmax: can the maximum and the sum of a softmax be had in one pass?
//
// The attention of a language model turns each row of scores into weights: exp(x), divided by the sum of the row's. The
// maximum is subtracted first, because exp(89) is infinite as a float. Masked scores are -infinity.
//
// Try it: ./course check online_softmax
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

/// What is known of some numbers x: sum = the sum of exp(x - max). Without numbers, max is -infinity and sum is 0.
struct MaxSum {
  float max, sum;
};

/// The maximum, but 0 for -infinity: what can be subtracted from any x that is at most the maximum.
__device__ inline float offset_of(float max) { return max == -INFINITY ? 0.0f : max; }

__device__ inline MaxSum merge(MaxSum a, MaxSum b) {
  const float max = fmaxf(a.max, b.max), offset = offset_of(max);
  return {max, a.sum * expf(a.max - offset) + b.sum * expf(b.max - offset)};
}

/// x and y have `rows` rows of `columns` floats, one after the other: row r of x begins at x[r * columns]. Writes the
/// softmax of each row of x to the same row of y: exp(x - m) / (the sum of exp(x - m) over the row), where m is the
/// maximum of the row.
/// - Each element is within 10^-4 + columns * 2^-24 of its exact value, relatively, or within 10^-12.
/// - Elements may be of any size: rows of 10^30, or of -10^30, are as good as any.
/// - -infinity becomes 0. A row with NaN or +infinity becomes NaN as a whole, and so does one with nothing but -infinity.
/// - Any number of rows, and of columns below 2^31. x and y are aligned to 4 bytes. rows * columns may be more than 2^32.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads, with fewer warps or blocks than rows,
///   or more. Launches give no dynamic shared memory.
/// - Threads share the rows: every element of x is loaded twice at most, every element of y is stored once, and the
///   lanes of a warp load and store neighbours.
__global__ void online_softmax(const float* x, std::size_t rows, std::size_t columns, float* y) {
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  const unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const std::size_t stride = std::size_t{gridDim.x} * warps;
  for (std::size_t row = std::size_t{blockIdx.x} * warps + threadIdx.x / 32; row < rows;
       row += stride) {  // a warp has a row
    const float* const row_x = x + row * columns;
    MaxSum all{-INFINITY, 0};
    for (std::size_t c = lane; c < columns; c += 32) all = merge(all, {row_x[c], 1});
    for (int distance = 16; distance > 0; distance /= 2) {
      all = merge(all, {__shfl_xor_sync(kAllLanes, all.max, distance),
                        __shfl_xor_sync(kAllLanes, all.sum, distance)});
    }
    // With nothing but -infinity this is 0 / 0; with +infinity or NaN the sum is NaN.
    for (std::size_t c = lane; c < columns; c += 32) {
      y[row * columns + c] = expf(row_x[c] - offset_of(all.max)) / all.sum;
    }
  }
}
