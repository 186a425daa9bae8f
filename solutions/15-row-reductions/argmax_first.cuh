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

/// An element of a row, and its column.
struct Candidate {
  float value;
  unsigned column;
};

/// Whether a comes before b: one rule for a thread's own elements and for those of two lanes.
__device__ inline bool is_better(const Candidate& a, const Candidate& b) {
  const bool a_is_nan = isnan(a.value), b_is_nan = isnan(b.value);
  if (a_is_nan != b_is_nan) return a_is_nan;
  if (!a_is_nan && a.value != b.value) return a.value > b.value;
  return a.column < b.column;
}

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
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  const unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const std::size_t stride = std::size_t{gridDim.x} * warps;
  // A warp has a row.
  for (std::size_t row = std::size_t{blockIdx.x} * warps + threadIdx.x / 32; row < rows;
       row += stride) {
    Candidate best{-INFINITY, 0xffff'ffffu};  // no element, which loses against -infinity, too
    for (std::size_t c = lane; c < columns; c += 32) {
      const Candidate next{__half2float(x[row * columns + c]), static_cast<unsigned>(c)};
      if (is_better(next, best)) best = next;
    }
    for (int distance = 16; distance > 0; distance /= 2) {
      const Candidate other{__shfl_xor_sync(kAllLanes, best.value, distance),
                            __shfl_xor_sync(kAllLanes, best.column, distance)};
      if (is_better(other, best)) best = other;
    }
    if (lane == 0) where[row] = best.column;
  }
}
