// Has no loop over the rows of the tile: right for blocks of 32 x 32 threads alone.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kTile = 32;

__global__ void transpose_tile(const float* in, std::size_t rows, std::size_t cols, float* out) {
  __shared__ float s_tile[kTile][kTile + 1];
  const std::size_t first_row = std::size_t{blockIdx.y} * kTile;
  const std::size_t first_col = std::size_t{blockIdx.x} * kTile;
  const unsigned x = threadIdx.x;
  const unsigned y = threadIdx.y;
  if (first_row + y < rows && first_col + x < cols) {
    s_tile[y][x] = in[(first_row + y) * cols + first_col + x];
  }
  __syncthreads();
  if (first_row + x < rows && first_col + y < cols) {
    out[(first_col + y) * rows + first_row + x] = s_tile[x][y];
  }
}
