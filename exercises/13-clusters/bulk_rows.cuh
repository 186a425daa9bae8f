// Exercise bulk_rows: weighted rows are added to a table, each with one instruction.
//
// Try it: ./course check bulk_rows
#pragma once

#include <course/bulk.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// table[index[r]][c] += weight[r] * source[r][c] for every row r below rows, and every column c below
/// width. Arrays of rows have no gaps between them.
/// - width is a multiple of 4, and not 0; source and table begin at multiples of 16 bytes. rows may be 0.
/// - Each product is rounded to float before it is added.
/// - The grid is one-dimensional, of any size. A block has a multiple of 32 threads; the launch gives it
///   dynamic shared memory for one row of floats per warp.
/// - Each row is added by one bulk addition; no thread makes an atomic. The lanes of a warp share the work
///   of a row.
__global__ void bulk_rows(const float* source, const int* index, const float* weight,
                          std::size_t rows, unsigned width, float* table) {
  // TODO(you): add each row with one bulk addition.
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::size_t warps = std::size_t{gridDim.x} * (blockDim.x / 32);
  for (std::size_t r = std::size_t{blockIdx.x} * (blockDim.x / 32) + warp; r < rows; r += warps) {
    float* const row = table + static_cast<std::size_t>(index[r]) * width;
    for (unsigned c = lane; c < width; c += 32) {
      atomicAdd(row + c, weight[r] * source[r * width + c]);
    }
  }
}
