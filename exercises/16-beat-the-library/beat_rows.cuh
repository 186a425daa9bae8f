// Challenge beat_rows: 2^22 rows of 64 halves, added to the rows of a table that an index names,
// faster than PyTorch's index_add_.
//
// The starter is right, and slow: one atomic per half. Make it as fast as you can; any kernels, any
// number of launches. The check proves that it stays right, and asks for at most one atomic per
// two halves.
//
// Try it: ./course check beat_rows, then ./course score beat_rows
#pragma once

#include <cuda_fp16.h>

#include <course/exercise.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

__global__ void rows_naive(const __half* d_source, const int* d_index, std::size_t rows,
                           std::size_t width, __half* d_table) {
  // TODO(you): beat this.
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= rows * width) return;
  const std::size_t row = i / width, column = i % width;
  atomicAdd(&d_table[static_cast<std::size_t>(d_index[row]) * width + column], d_source[i]);
}

struct BeatRows {
  /// table[d_index[r]][c] += source[r][c] for r < rows, c < width. Both are row-major, without gaps.
  /// - 0 <= d_index[r] < table_rows. Several rows may have the same index, in any order.
  /// - Arrays are aligned to their elements, no more. Any width from 1 on; rows may be 0.
  /// - Sums that need no rounding are exact. Others are as near as half additions in any order.
  /// - Rows of the table that no row is added to keep their numbers, -0.0 too.
  /// - Kernels read the rows, not the host.
  /// - Launches in the default stream; the result need not be there when this returns.
  /// - Called again, with any shape, when the call before is done or in the same stream after it.
  void operator()(const __half* d_source, const int* d_index, std::size_t rows, std::size_t width,
                  __half* d_table, std::size_t table_rows) {
    (void)table_rows;  // not used yet: delete this line when it is
    course::launch(rows_naive, {course::blocks_for(rows * width, 256), 256}, d_source, d_index,
                   rows, width, d_table);
  }

  // What is kept from one call to the next, such as a course::DeviceBuffer, is a member here.
};
