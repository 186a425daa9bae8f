// What do gaps between the lanes cost? Every element is read once, in a strided order.
// Rungs: sum_strided with a stride of 1, 2, 4, ... 32 floats. Stride 32 is the article's example.
//
// See x as a matrix with `stride` columns. It is read column by column: neighbouring lanes read
// elements that are `stride` floats apart, and each column is a pass through the whole matrix.
// A struct of 32 floats that is read field by field does the same.
#pragma once

#include <course/launch.cuh>
#include <cstddef>
#include <vector>

#include "grid.cuh"

/// Loads that a thread has in flight at the same time: enough that they do not limit the speed.
constexpr std::size_t kRowsOfThread = 8;

/// Blocks for one column of the matrix.
inline std::size_t blocks_of_column(std::size_t n, std::size_t stride) {
  const std::size_t rows = (n + stride - 1) / stride;
  constexpr std::size_t kRowsOfBlock = kBlockSize * kRowsOfThread;
  return (rows + kRowsOfBlock - 1) / kRowsOfBlock;
}

/// How many sums there are: one for each thread.
inline std::size_t sums_of_strided(std::size_t n, std::size_t stride) {
  return stride * blocks_of_column(n, stride) * kBlockSize;
}

/// Rung 0: the sums that the kernel's threads make, added in the same order.
inline std::vector<float> sum_strided_reference(const std::vector<float>& x, std::size_t stride) {
  std::vector<float> y(sums_of_strided(x.size(), stride), 0.0f);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / stride;
    const std::size_t block = row / (kBlockSize * kRowsOfThread);
    const std::size_t column_of_blocks = i % stride * blocks_of_column(x.size(), stride);
    y[(column_of_blocks + block) * kBlockSize + row % kBlockSize] += x[i];
  }
  return y;
}

// Question: what does a warp pay for lanes that are `stride` elements apart?
// Changes:  from rung to rung only the stride. A thread sums 8 elements of column blockIdx.y and
//           writes one number, so that reads are 8 of 9 accesses.
// Cost:     4 * stride sectors per request, and never more than 32: one for each lane.
__global__ void sum_strided(const float* d_x, std::size_t n, std::size_t stride, float* d_y) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x * kRowsOfThread + threadIdx.x;
  float value[kRowsOfThread];  // all loads come before the first addition
  for (std::size_t k = 0; k < kRowsOfThread; ++k) {
    const std::size_t i = (first + k * blockDim.x) * stride + blockIdx.y;
    value[k] = i < n ? d_x[i] : 0.0f;
  }
  float sum = 0.0f;
  for (const float v : value) sum += v;
  const std::size_t block = std::size_t{blockIdx.y} * gridDim.x + blockIdx.x;
  d_y[block * blockDim.x + threadIdx.x] = sum;
}

/// Sets d_y[0..sums_of_strided(n, stride)-1] to sums of 8 elements each, which together are all of
/// d_x[0..n-1]. 1 <= stride <= 65535.
inline void launch_sum_strided(const float* d_x, std::size_t n, std::size_t stride, float* d_y) {
  const dim3 grid(static_cast<unsigned>(blocks_of_column(n, stride)),
                  static_cast<unsigned>(stride));
  course::launch(sum_strided, {grid, kBlockSize}, d_x, n, stride, d_y);
}
