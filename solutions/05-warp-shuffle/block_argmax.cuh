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
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  __shared__ float s_value[32];  // of warp w
  __shared__ unsigned s_index[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;

  // What is better than what: as a function of its own, because three places have to agree on it.
  const auto take_better = [](float& value, unsigned& index, float other, unsigned other_index) {
    if (other > value || (other == value && other_index < index)) {  // false if `other` is NaN
      value = other;
      index = other_index;
    }
  };
  const auto reduce_warp = [&](float& value, unsigned& index) {
    for (int distance = 16; distance > 0; distance /= 2) {
      const float other = __shfl_xor_sync(kAllLanes, value, distance);
      const unsigned other_index = __shfl_xor_sync(kAllLanes, index, distance);
      take_better(value, index, other, other_index);
    }
  };

  for (unsigned row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* const elements = x + std::size_t{row} * columns;
    float value = -INFINITY;
    unsigned index = columns;  // loses against every column that holds -infinity
    for (unsigned i = threadIdx.x; i < columns; i += blockDim.x) {
      take_better(value, index, elements[i], i);
    }
    reduce_warp(value, index);
    __syncthreads();  // the first warp has read what the row before left here
    if (lane == 0) {
      s_value[warp] = value;
      s_index[warp] = index;
    }
    __syncthreads();  // all warps' results are there
    if (warp == 0) {
      value = lane < warps ? s_value[lane] : -INFINITY;
      index = lane < warps ? s_index[lane] : columns;
      reduce_warp(value, index);
      if (lane == 0) {
        best[row] = value;
        where[row] = index;
      }
    }
  }
}
