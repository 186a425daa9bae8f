// Exercise transpose_tile: turn rows into columns, coalesced on both sides.
//
// If a warp loads 32 neighbours of a row, they belong in 32 different rows of the result. So blocks
// take a square tile each, in shared memory.
//
// Try it: ./course check transpose_tile
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kTile = 32;  // rows and columns of a tile

/// out[c * rows + r] = in[r * cols + c] for all r < rows and c < cols.
/// - Block (x, y) of the grid owns the tile of 32 x 32 elements whose first one is in row 32 y and
///   column 32 x of `in`. The grid covers the matrix: gridDim.x = cols / 32 and gridDim.y =
///   rows / 32, both rounded up. Tiles at the right and the lower edge may be cut off.
/// - blockDim.x is 32. blockDim.y divides 32: each thread moves 32 / blockDim.y elements.
/// - A warp's loads are 32 neighbours of a row of `in`, its stores 32 neighbours of a row of `out`:
///   4 sectors each where rows begin with a sector. That holds for tiles that are cut off, too.
/// - Each element is stored to the tile once and loaded from it once, 32 per request, without any
///   bank conflict. What no thread wrote is not read. No atomics.
__global__ void transpose_tile(const float* in, std::size_t rows, std::size_t cols, float* out) {
  __shared__ float s_tile[kTile][kTile + 1];  // 33 words per row: a column is in 32 different banks
  const std::size_t first_row = std::size_t{blockIdx.y} * kTile;
  const std::size_t first_col = std::size_t{blockIdx.x} * kTile;
  for (unsigned y = threadIdx.y; y < kTile; y += blockDim.y) {
    const std::size_t r = first_row + y;
    const std::size_t c = first_col + threadIdx.x;
    if (r < rows && c < cols) s_tile[y][threadIdx.x] = in[r * cols + c];
  }
  __syncthreads();  // the tile is full: from here on threads read what others wrote
  for (unsigned y = threadIdx.y; y < kTile; y += blockDim.y) {
    const std::size_t r = first_row + threadIdx.x;  // now the lanes go down a column of the tile
    const std::size_t c = first_col + y;
    if (r < rows && c < cols) out[c * rows + r] = s_tile[threadIdx.x][y];
  }
}
