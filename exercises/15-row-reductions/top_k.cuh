// Exercise top_k: which are the eight largest elements of each row?
//
// A language model draws its next word from the eight with the highest scores; a search returns the eight nearest. Sorting the
// row would be far too much work: a thread needs to keep eight elements of what it has seen.
//
// Try it: ./course check top_k
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// x has `rows` rows of `columns` floats, one after the other: row r begins at x[r * columns]. For each row r, values[8 * r
/// + k] and indices[8 * r + k] are the element and its column that is number k of the row, with k from 0 to 7, the
/// largest first.
/// - Of equal elements the one with the smaller column comes first. -0 equals +0, in values, too: of a zero either sign will do.
/// - NaN is larger than any number, whatever its sign and its other bits; of several NaNs the one with the smaller column
///   comes first, and in values any NaN will do.
/// - If a row has fewer than 8 columns, the last ones are -infinity, with column -1. A row may have no columns. An element that is
///   -infinity comes before these.
/// - Fewer than 2^31 columns, any number of rows. rows * columns may be more than 2^32.
/// - x, values and indices are aligned to 4 bytes.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads, with fewer warps or blocks than rows,
///   or more. Launches give no dynamic shared memory.
/// - Threads share the rows: every element is loaded once, a few of a row and the results perhaps twice; the lanes of
///   a warp load neighbours.
__global__ void top_k(const float* x, std::size_t rows, std::size_t columns, float* values,
                      int* indices) {
  // TODO(you): find the eight largest elements of each row.
  (void)x, (void)rows, (void)columns, (void)values, (void)indices;  // delete this line
}
