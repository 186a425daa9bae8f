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

NOT_STARTED  // delete this line when you begin

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
  // TODO(you): write the softmax of each row, with two reads of it at most.
  (void)x, (void)rows, (void)columns, (void)y;  // delete this line
}
