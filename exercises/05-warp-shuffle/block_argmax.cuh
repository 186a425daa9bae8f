// Exercise block_argmax: where is the largest element of each row?
//
// A classifier computes a row of scores for each picture, and its answer is the index of the
// largest score. A block takes one row at a time.
//
// You may use the course's headers: course/collectives.cuh has course::warp_reduce and
// course::block_reduce.
//
// Try it: ./course check block_argmax
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// x has `rows` rows of `columns` floats, one after the other: row r begins at x[r * columns].
/// Writes for every row r: best[r] = its largest element, and where[r] = that element's column.
/// - If several elements are the largest, it is the smallest of their columns (-0 equals +0).
/// - NaN counts as missing. A row without a number, or without a column, gives -infinity and
///   where[r] == columns. -infinity is a number.
/// - Any number of columns below 2^31, less or more than a block has threads. rows * columns may be
///   more than 2^32. x is aligned to 4 bytes, no more.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads, with fewer blocks
///   than rows, or more.
/// - The threads of one block share a row: every element is loaded once, and the lanes of a warp
///   load neighbours. Each result is written once.
/// - At most four __syncthreads() per row, however large the block is; no atomics. Launches give no
///   dynamic shared memory.
__global__ void block_argmax(const float* x, unsigned rows, unsigned columns, float* best,
                             unsigned* where) {
  // TODO(you): find the largest element of each row, and its column.
  (void)x, (void)rows, (void)columns, (void)best, (void)where;  // delete this line
}
