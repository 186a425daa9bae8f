// The tile is there, but each thread writes the element that it has read itself: the stores of a
// warp are as far apart as before.
//
// GPU: may slip through: the values are right, and nothing counts requests there.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kTile = 32;

__global__ void transpose_tile(const float* in, std::size_t rows, std::size_t cols, float* out) {
  __shared__ float s_tile[kTile][kTile + 1];
  const std::size_t first_row = std::size_t{blockIdx.y} * kTile;
  const std::size_t first_col = std::size_t{blockIdx.x} * kTile;
  for (unsigned y = threadIdx.y; y < kTile; y += blockDim.y) {
    const std::size_t r = first_row + y;
    const std::size_t c = first_col + threadIdx.x;
    if (r < rows && c < cols) s_tile[y][threadIdx.x] = in[r * cols + c];
  }
  __syncthreads();
  for (unsigned y = threadIdx.y; y < kTile; y += blockDim.y) {
    const std::size_t r = first_row + y;
    const std::size_t c = first_col + threadIdx.x;
    if (r < rows && c < cols) out[c * rows + r] = s_tile[y][threadIdx.x];
  }
}
