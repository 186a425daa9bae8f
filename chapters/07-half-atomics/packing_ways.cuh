// Which two numbers can share an atomic? Two results of one element, two neighbours of a table
// (add_half2.cuh), two columns of a matrix.
// Rungs: moments_apart, moments_pair; columns_apart, columns_pair.
#pragma once

#include <cuda_fp16.h>

#include <course/grid.cuh>
#include <cstddef>

#include "grid.cuh"

// Question: a bin needs two sums, that of x and that of x * x; what does it cost?
// Changes:  the plain way: two tables, two atomics per element.
// Cost:     2 n atomics, each a compare-and-swap loop.
__global__ void moments_apart(const __half* d_x, std::size_t n, std::size_t mask, __half* d_sums,
                              __half* d_squares) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&d_sums[i & mask], d_x[i]);
  atomicAdd(&d_squares[i & mask], d_x[i] * d_x[i]);
}

// Question: can one atomic add both results?
// Changes:  the two sums of a bin are side by side, and an element adds to both as a pair.
// Cost:     n atomics of the hardware. A reader in between may find one sum newer than the other.
__global__ void moments_pair(const __half* d_x, std::size_t n, std::size_t mask, __half2* d_bins) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half x = d_x[i];
  atomicAdd(&d_bins[i & mask], __halves2half2(x, x * x));
}

/// Rows of the matrix that a block sums before it uses an atomic.
constexpr std::size_t kRowsOfBlock = 64;

// Question: which sums of a matrix's columns can share an atomic?
// Changes:  the plain way: a thread sums 64 rows of its column in float, then one atomic.
// Cost:     one atomic per column and 64 rows; 2 bytes per load.
__global__ void columns_apart(const __half* d_x, std::size_t rows, std::size_t columns,
                              __half* d_sums) {
  const std::size_t column = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  const std::size_t first = blockIdx.y * kRowsOfBlock;
  float sum = 0.0f;  // one rounding to half for 64 rows, not 64
  for (std::size_t row = first; row < rows && row < first + kRowsOfBlock; ++row) {
    sum += __half2float(d_x[row * columns + column]);
  }
  atomicAdd(&d_sums[column], __float2half(sum));
}

// Question: can a thread add two columns at once?
// Changes:  a thread owns two neighbouring columns: its loads are pairs, and so is its atomic.
// Cost:     half of the loads and atomics; `columns` has to be even, or pairs would not be aligned.
__global__ void columns_pair(const __half2* d_x, std::size_t rows, std::size_t pairs,
                             __half2* d_sums) {
  const std::size_t pair = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (pair >= pairs) return;
  const std::size_t first = blockIdx.y * kRowsOfBlock;
  float2 sum = make_float2(0.0f, 0.0f);
  for (std::size_t row = first; row < rows && row < first + kRowsOfBlock; ++row) {
    const float2 x = __half22float2(d_x[row * pairs + pair]);
    sum.x += x.x;
    sum.y += x.y;
  }
  atomicAdd(&d_sums[pair], __float22half2_rn(sum));
}
