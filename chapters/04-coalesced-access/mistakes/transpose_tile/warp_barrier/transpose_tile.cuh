// __syncwarp() waits for the thread's own warp, but a column of the tile was written by several.
// GPU: may slip through: there it depends on how the warps happen to run.
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
  __syncwarp();
  for (unsigned y = threadIdx.y; y < kTile; y += blockDim.y) {
    const std::size_t r = first_row + threadIdx.x;
    const std::size_t c = first_col + y;
    if (r < rows && c < cols) out[c * rows + r] = s_tile[threadIdx.x][y];
  }
}
