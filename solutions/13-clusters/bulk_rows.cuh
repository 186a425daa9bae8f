// Exercise bulk_rows: weighted rows are added to a table, each with one instruction.
//
// Try it: ./course check bulk_rows
#pragma once

#include <course/bulk.cuh>
#include <course/exercise.cuh>
#include <cstddef>

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
  extern __shared__ __align__(16) float s_rows[];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::size_t warps = std::size_t{gridDim.x} * (blockDim.x / 32);
  float* const s_row = s_rows + warp * width;
  for (std::size_t r = std::size_t{blockIdx.x} * (blockDim.x / 32) + warp; r < rows; r += warps) {
    for (unsigned c = lane; c < width; c += 32) s_row[c] = weight[r] * source[r * width + c];
    course::fence_before_bulk();  // this lane's numbers may be read by a bulk operation
    __syncwarp();                 // those of all lanes are there
    if (lane == 0) {
      course::bulk_add(table + static_cast<std::size_t>(index[r]) * width, s_row, width);
      course::bulk_commit();
      course::bulk_wait_read();  // the row has been read
    }
    __syncwarp();  // all lanes may write the next one
  }
}
