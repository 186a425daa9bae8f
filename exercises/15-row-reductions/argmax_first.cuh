// Exercise argmax_first: which column has the first of the largest elements?
//
// A language model takes the word with the highest score: the index of the largest half of each row. If two runs are to
// give the same text, ties must have a rule. And if scores are broken, the index must lead to the NaN.
//
// Try it: ./course check argmax_first
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// x has `rows` rows of `columns` halves, one after the other: row r begins at x[r * columns]. Writes where[r], the column
/// of the largest element of row r.
/// - If several elements are the largest, it is the smallest of their columns. -0 equals +0.
/// - NaN is larger than any number, whatever its sign and its other bits. So a row with NaN gives the column of its first NaN.
/// - A row has at least one column, and fewer than 2^30. Any number of rows. rows * columns may be more than 2^32.
/// - x is aligned to 2 bytes.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads, with fewer warps or blocks than rows,
///   or more. Launches give no dynamic shared memory.
/// - Threads share the rows: every element is loaded once, but for a few of a row, and neighbouring lanes load
///   neighbours: a load fills its sectors of 32 bytes.
__global__ void argmax_first(const __half* x, std::size_t rows, std::size_t columns,
                             unsigned* where) {
  // TODO(you): find the first of the largest elements of each row.
  (void)x, (void)rows, (void)columns, (void)where;  // delete this line
}
