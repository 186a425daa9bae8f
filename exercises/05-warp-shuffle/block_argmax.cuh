// Exercise block_argmax: where is the largest element of each row?
//
// A classifier ends with a row of scores for each picture, and the answer is the place of the
// largest one. A block takes a row: a value and an index travel together through two warp
// reductions.
//
// Try it: meson test -C build block_argmax
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// x has `rows` rows of `columns` floats, one after the other: row r begins at x[r * columns].
/// Writes for every row r: best[r] = its largest element, and where[r] = that element's column.
/// - Of equal ones it is the smallest column (-0 and +0 are equal).
/// - NaN counts as missing. A row without a number, or without a column, gives -infinity and
///   where[r] == columns. A row of -infinity is a row of numbers.
/// - Any number of columns below 2^31, less or more than a block has threads. rows * columns may be
///   more than 2^32.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads, with fewer blocks
///   than rows, or more.
/// - The threads of one block share a row: every element is loaded once, and the lanes of a warp
///   load neighbours. One thread writes the row's two results.
/// - At most four __syncthreads() a row, however large the block is; no atomics. Shared memory is
///   __shared__: launches ask for none.
__global__ void block_argmax(const float* x, unsigned rows, unsigned columns, float* best,
                             unsigned* where) {
  // TODO(you): each thread finds the best of its columns; then two warp reductions, of a value and
  // its index together. What do lanes bring along for which there is no column, or no warp?
  (void)x, (void)rows, (void)columns, (void)best, (void)where;  // delete this line
}
