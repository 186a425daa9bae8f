// As many lanes as there are warps combine the warps' candidates, and their shuffles name all 32:
// the other lanes wait elsewhere, a deadlock.
//
// GPU: may slip through: many GPUs go on with what a missing lane's register happens to hold.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void block_argmax(const float* x, unsigned rows, unsigned columns, float* best,
                             unsigned* where) {
  __shared__ float s_value[32];
  __shared__ unsigned s_column[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (unsigned r = blockIdx.x; r < rows; r += gridDim.x) {
    float value = -INFINITY;
    unsigned column = columns;
    for (unsigned c = threadIdx.x; c < columns; c += blockDim.x) {
      const float v = x[std::size_t{r} * columns + c];
      if (v > value || (v == value && c < column)) {
        value = v;
        column = c;
      }
    }
    for (unsigned d = 16; d > 0; d /= 2) {
      const float v = __shfl_down_sync(0xffffffffu, value, d);
      const unsigned c = __shfl_down_sync(0xffffffffu, column, d);
      if (v > value || (v == value && c < column)) {
        value = v;
        column = c;
      }
    }
    if (lane == 0) {
      s_value[warp] = value;
      s_column[warp] = column;
    }
    __syncthreads();
    if (threadIdx.x < warps) {
      value = s_value[lane];
      column = s_column[lane];
      for (unsigned d = 16; d > 0; d /= 2) {
        const float v = __shfl_down_sync(0xffffffffu, value, d);
        const unsigned c = __shfl_down_sync(0xffffffffu, column, d);
        if (v > value || (v == value && c < column)) {
          value = v;
          column = c;
        }
      }
      if (lane == 0) {
        best[r] = value;
        where[r] = column;
      }
    }
    __syncthreads();
  }
}
