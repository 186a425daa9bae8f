// Each warp stores its maximum if it is larger than what it reads: between the look and the store
// another warp stores a larger one, and the race is reported.
//
// GPU: may slip through: the largest maximum may happen to be stored last.
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
  int most = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const int place = atomicAdd(&counts[cell_of(box, x[i], y[i])], 1);
    places[i] = place;
    most = max(most, place + 1);  // the last one to come to the fullest cell finds its final count
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    most = max(most, __shfl_xor_sync(0xffffffffu, most, distance));
  }
  if (threadIdx.x % 32 == 0 && most > *fullest) *fullest = most;
}
