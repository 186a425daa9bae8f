// Exercise sum_compensated: how does a sum of floats keep what its additions lose?
//
// The forces on a body nearly cancel: thousands of large numbers of both signs leave a small one. A float addition rounds
// to 24 bits, and double is slow on many GPUs. What an addition loses is a float, too.
//
// Try it: ./course check sum_compensated
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// x has `rows` rows of `columns` floats, one after the other: row r begins at x[r * columns]. Writes sums[r], the sum of
/// row r.
/// - It is within 2^-22 |sum| + (2^-38 + columns^2 * 2^-58) size of the exact sum, where size is the sum of |x| over the
///   row.
/// - Where an element is infinite or NaN, the result is that of float additions: infinities of one sign stay what they
///   are, those of both signs give NaN, and so does a NaN.
/// - The size of a row's finite elements is below 2^127. A row without columns gives 0.
/// - Any number of rows, and of columns below 2^31. x is aligned to 4 bytes. rows * columns may be more than 2^32.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads, with fewer warps or blocks than rows,
///   or more. Launches give no dynamic shared memory.
/// - Threads share the rows: every element is loaded once, but for a few of a row, and the lanes of a warp load
///   neighbours.
__global__ void sum_compensated(const float* x, std::size_t rows, std::size_t columns,
                                float* sums) {
  // TODO(you): sum each row, and keep what the additions lose.
  (void)x, (void)rows, (void)columns, (void)sums;  // delete this line
}
