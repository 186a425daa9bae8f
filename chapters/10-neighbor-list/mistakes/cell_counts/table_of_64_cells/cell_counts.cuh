// Counts in shared memory first, in a table of 64 cells: a box with more of them writes behind its
// end.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

struct Box {
  float edge;  // of a cell
  int columns, rows;
};

__device__ inline int cell_of(Box box, float x, float y) {
  const int column = static_cast<int>(floorf(x / box.edge)) % box.columns;
  const int row = static_cast<int>(floorf(y / box.edge)) % box.rows;
  return (row < 0 ? row + box.rows : row) * box.columns +
         (column < 0 ? column + box.columns : column);
}

__global__ void cell_counts(const float* x, const float* y, std::size_t n, Box box, int* counts,
                            int* places, int* fullest) {
  constexpr int kTable = 64;
  __shared__ int s_counts[kTable], s_first[kTable];
  __shared__ int s_most;
  for (int c = static_cast<int>(threadIdx.x); c < kTable; c += static_cast<int>(blockDim.x)) {
    s_counts[c] = 0;
  }
  if (threadIdx.x == 0) s_most = 0;
  __syncthreads();  // all are 0 before anybody counts
  const std::size_t begin = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = begin; i < n; i += stride) {
    places[i] = atomicAdd(&s_counts[cell_of(box, x[i], y[i])], 1);
  }
  __syncthreads();  // all have counted
  const int cells = box.columns * box.rows;
  for (int c = static_cast<int>(threadIdx.x); c < cells; c += static_cast<int>(blockDim.x)) {
    if (s_counts[c] == 0) continue;
    s_first[c] = atomicAdd(&counts[c], s_counts[c]);
    atomicMax(&s_most, s_first[c] + s_counts[c]);
  }
  __syncthreads();  // s_first and s_most are complete
  for (std::size_t i = begin; i < n; i += stride) places[i] += s_first[cell_of(box, x[i], y[i])];
  if (threadIdx.x == 0 && s_most > 0) atomicMax(fullest, s_most);
}
