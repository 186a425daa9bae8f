// Exercise merge_moments: what do two parts of an array know of the variance of the whole?
//
// A batch norm needs mean and variance of each row, in one read of the row. Each thread sees a part of it, and what the
// threads know must be merged. The mean may be ten thousand times the standard deviation.
//
// Try it: ./course check merge_moments
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

/// What is known of some numbers x.
struct PartMoments {
  unsigned count;  // how many there are
  float mean;      // of x
  float squares;   // the sum of (x - mean)^2
};

/// Returns what is known of the numbers of both parts.
/// - If one part has count 0, the result is the other one: mean and squares of a part without numbers may be anything,
///   NaN, too. If both have, the result has count 0.
/// - Numbers are at most 10^12 in size, and the counts together below 2^32.
/// - mean is within 10^-6 times the larger |mean|, and squares within 10^-6 of the exact sum of the parts as they are given,
///   or within 10^-30 of it, where the square of a small difference is no float.
__device__ inline PartMoments merge(const PartMoments& a, const PartMoments& b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const unsigned count = a.count + b.count;
  const float apart = b.mean - a.mean;
  const float share = static_cast<float>(b.count) / static_cast<float>(count);
  return {count, a.mean + apart * share,
          a.squares + b.squares + apart * apart * (static_cast<float>(a.count) * share)};
}

/// x has `rows` rows of `columns` floats, one after the other: row r begins at x[r * columns]. Writes mean[r] and
/// variance[r] of each row r: the mean of (x - mean[r])^2 over all columns.
/// - mean is within 10^-5 of the larger of |mean| and the standard deviation, and variance within 10^-4 variance +
///   10^-12 mean^2 of the exact one, in rows of up to 2^17 columns whose small and large elements are mixed, and in rows
///   of up to 2^11 columns whose |mean| is at most 10 standard deviations. Nothing is promised of longer rows, or where
///   elements rise slowly at a large mean: a mean that is a float does not follow them.
/// - A row without columns gives NaN for both. Elements are finite, at most 10^12 in size.
/// - Any number of rows, and of columns below 2^31. x is aligned to 4 bytes. rows * columns may be more than 2^32.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads, with fewer warps or blocks than rows,
///   or more. Launches give no dynamic shared memory.
/// - Threads share the rows: every element is loaded once, but for a few of a row, and the lanes of a warp load
///   neighbours.
__global__ void row_moments(const float* x, std::size_t rows, std::size_t columns, float* mean,
                            float* variance) {
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  const unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const std::size_t stride = std::size_t{gridDim.x} * warps;
  for (std::size_t row = std::size_t{blockIdx.x} * warps + threadIdx.x / 32; row < rows;
       row += stride) {  // a warp has a row
    PartMoments mine{0, 0, 0};
    for (std::size_t c = lane; c < columns; c += 32) {
      mine = merge(mine, {1, x[row * columns + c], 0});
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      const PartMoments other{__shfl_xor_sync(kAllLanes, mine.count, distance),
                              __shfl_xor_sync(kAllLanes, mine.mean, distance),
                              __shfl_xor_sync(kAllLanes, mine.squares, distance)};
      mine = merge(mine, other);
    }
    if (lane == 0) {
      const float n = static_cast<float>(mine.count);
      mean[row] = n == 0 ? NAN : mine.mean;
      variance[row] = mine.squares / n;
    }
  }
}
