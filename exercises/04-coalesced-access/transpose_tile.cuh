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

NOT_STARTED  // delete this line when you begin

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
  // TODO(you): this is right, and its stores are not coalesced. Make them coalesced, too.
  const std::size_t c = std::size_t{blockIdx.x} * kTile + threadIdx.x;
  for (unsigned y = threadIdx.y; y < kTile; y += blockDim.y) {
    const std::size_t r = std::size_t{blockIdx.y} * kTile + y;
    if (r < rows && c < cols) out[c * rows + r] = in[r * cols + c];
  }
}
