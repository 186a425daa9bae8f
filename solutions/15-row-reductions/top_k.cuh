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

/// An element and its column as one number: the larger, the earlier. 0 stands for no element.
__device__ inline unsigned long long key_of(float value, unsigned column) {
  const unsigned bits = __float_as_uint(value == 0 ? 0.0f : value);  // -0 equals +0
  unsigned ordered = bits >> 31 ? ~bits : bits | 0x8000'0000u;
  if (isnan(value)) ordered = 0xffff'ffffu;
  return static_cast<unsigned long long>(ordered) << 32 | ~column;
}

__device__ inline float value_of(unsigned long long key) {
  if (key == 0) return -INFINITY;
  const auto ordered = static_cast<unsigned>(key >> 32);
  return __uint_as_float(ordered >> 31 ? ordered & 0x7fff'ffffu : ~ordered);
}

__device__ inline int column_of(unsigned long long key) {
  return key == 0 ? -1 : static_cast<int>(~static_cast<unsigned>(key));
}

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
  constexpr unsigned kAllLanes = 0xffff'ffffu, kTop = 8;
  const unsigned lane = threadIdx.x % 32, warps = blockDim.x / 32;
  const std::size_t stride = std::size_t{gridDim.x} * warps;
  // A warp has a row.
  for (std::size_t row = std::size_t{blockIdx.x} * warps + threadIdx.x / 32; row < rows;
       row += stride) {
    unsigned long long mine[kTop] = {};  // the largest keys of this lane, descending
    for (std::size_t c = lane; c < columns; c += 32) {
      const unsigned long long key = key_of(x[row * columns + c], static_cast<unsigned>(c));
      if (key <= mine[kTop - 1]) continue;
      mine[kTop - 1] = key;
#pragma unroll
      for (unsigned k = kTop - 1; k > 0; --k) {  // it rises to its place
        const unsigned long long above = mine[k - 1], below = mine[k];
        mine[k - 1] = max(above, below);
        mine[k] = min(above, below);
      }
    }
    unsigned long long result = 0;  // of lane k: number k of the row
    for (unsigned k = 0; k < kTop; ++k) {
      unsigned long long best = mine[0];
      for (int distance = 16; distance > 0; distance /= 2) {
        best = max(best, __shfl_xor_sync(kAllLanes, best, distance));
      }
      if (lane == k) result = best;
      if (mine[0] == best) {  // keys differ: at most one lane has it, unless it is 0
#pragma unroll
        for (unsigned i = 1; i < kTop; ++i) mine[i - 1] = mine[i];
        mine[kTop - 1] = 0;
      }
    }
    if (lane < kTop) {
      values[row * kTop + lane] = value_of(result);
      indices[row * kTop + lane] = column_of(result);
    }
  }
}
