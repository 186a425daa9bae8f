// What if the order of the work is not that in memory? The data go through a tile in shared memory.
// Rungs: row_sums_direct, row_sums_tile (bank conflicts), row_sums_padded; transpose_scatter,
// transpose_gather. Matrices are stored row by row: element (r, c) is d_x[r * cols + c].
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "grid.cuh"

constexpr unsigned kTile = 32;  // rows and columns of a tile: a warp's width

/// Rung 0. A row is added from left to right, as the kernels do it: the same bits.
inline std::vector<float> row_sums_reference(const std::vector<float>& x, std::size_t rows,
                                             std::size_t cols) {
  std::vector<float> y(rows, 0.0f);
  for (std::size_t i = 0; i < rows * cols; ++i) y[i / cols] += x[i];
  return y;
}

// Question: may each thread simply walk along its own row?
// Changes:  thread r owns row r. In each step the lanes read a column: they are cols floats apart.
// Cost:     32 sectors per request. The other 7 floats of each are used in the next steps, if the
//           cache still has them then.
__global__ void row_sums_direct(const float* d_x, std::size_t rows, std::size_t cols, float* d_y) {
  const std::size_t r = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0.0f;
  for (std::size_t c = 0; c < cols; ++c) sum += d_x[r * cols + c];
  d_y[r] = sum;
}

constexpr unsigned kWarpsOfTileBlock = 4;

// Question: can the loads follow the memory, and the sums the rows?
// Changes:  a warp owns 32 rows. It loads 32 x 32 floats row by row, coalesced, into its own tile;
//           then lane t sums row t of the tile. kWidth is the tile's width in memory: 32 for
//           row_sums_tile, 33 for row_sums_padded.
// Cost:     4 sectors per request. Width 32: all lanes read from one bank, 32 wavefronts per request.
//           Width 33: from 32 different banks, one wavefront.
template <unsigned kWidth>
__global__ void row_sums_of_tiles(const float* d_x, std::size_t rows, std::size_t cols,
                                  float* d_y) {
  __shared__ float s_tiles[kWarpsOfTileBlock][kTile][kWidth];
  const unsigned warp = threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const std::size_t first_row = (std::size_t{blockIdx.x} * kWarpsOfTileBlock + warp) * kTile;
  float sum = 0.0f;
  for (std::size_t first_col = 0; first_col < cols; first_col += kTile) {
    const std::size_t c = first_col + lane;
    float column[kTile];  // all loads come before the first store: none waits for another one
    for (unsigned r = 0; r < kTile; ++r) {
      const bool inside = first_row + r < rows && c < cols;
      column[r] = inside ? d_x[(first_row + r) * cols + c] : 0.0f;
    }
    for (unsigned r = 0; r < kTile; ++r) s_tiles[warp][r][lane] = column[r];
    __syncwarp();  // the tile is full: lane t may read what the others wrote
    for (unsigned k = 0; k < kTile; ++k) sum += s_tiles[warp][lane][k];
    __syncwarp();  // all have read it: the next tile may be written
  }
  if (first_row + lane < rows) d_y[first_row + lane] = sum;
}

/// Blocks of kWarpsOfTileBlock warps with 32 rows each.
inline unsigned blocks_of_tiles(std::size_t rows) {
  return course::blocks_for(rows, kWarpsOfTileBlock * kTile);
}

/// Rung 0 of the transposition: y has cols rows and rows columns.
inline std::vector<float> transpose_reference(const std::vector<float>& x, std::size_t rows,
                                              std::size_t cols) {
  std::vector<float> y(x.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) y[c * rows + r] = x[r * cols + c];
  }
  return y;
}

constexpr unsigned kRowsOfBlock = 8;  // blocks of 32 x 8 threads

/// A grid for a matrix of width x height elements, one thread each; rows beyond its last one are done
/// in a loop, because a grid has at most 65535 blocks in y.
inline dim3 matrix_grid(std::size_t width, std::size_t height) {
  const std::size_t down = (height + kRowsOfBlock - 1) / kRowsOfBlock;
  return dim3(static_cast<unsigned>((width + kTile - 1) / kTile),
              static_cast<unsigned>(std::min<std::size_t>(down, 65535)));
}

// Question: what does it cost to turn rows into columns?
// Changes:  thread (x, y) owns one element of the input. A warp reads 32 of a row, and writes them
//           to 32 different rows.
// Cost:     4 sectors per load, 32 sectors per store.
__global__ void transpose_scatter(const float* d_x, std::size_t rows, std::size_t cols,
                                  float* d_y) {
  const std::size_t c = std::size_t{blockIdx.x} * kTile + threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.y} * kRowsOfBlock + threadIdx.y;
  for (std::size_t r = first; r < rows; r += std::size_t{gridDim.y} * kRowsOfBlock) {
    if (c < cols) d_y[c * rows + r] = d_x[r * cols + c];
  }
}

// Question: if one side has to be strided, which one?
// Changes:  thread (x, y) owns one element of the output. A warp writes 32 of a row, and reads them
//           from 32 different rows.
// Cost:     32 sectors per load, 4 sectors per store.
__global__ void transpose_gather(const float* d_x, std::size_t rows, std::size_t cols, float* d_y) {
  const std::size_t r = std::size_t{blockIdx.x} * kTile + threadIdx.x;
  const std::size_t first = std::size_t{blockIdx.y} * kRowsOfBlock + threadIdx.y;
  for (std::size_t c = first; c < cols; c += std::size_t{gridDim.y} * kRowsOfBlock) {
    if (r < rows) d_y[c * rows + r] = d_x[r * cols + c];
  }
}
