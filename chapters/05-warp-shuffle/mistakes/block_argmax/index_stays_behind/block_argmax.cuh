// Reduces the values and forgets the index: the value is the largest, the column that of the lane
// that reports it.
#pragma once

#include <cuda_runtime.h>
#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void block_argmax(const float* x, unsigned rows, unsigned columns, float* best,
                             unsigned* where) {
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  __shared__ float s_value[32];
  __shared__ unsigned s_index[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const auto take_better = [](float& value, unsigned& index, float other, unsigned other_index) {
    if (other > value || (other == value && other_index < index)) {
      value = other;
      index = other_index;
    }
  };
  const auto reduce_warp = [&](float& value, unsigned&) {
    for (int distance = 16; distance > 0; distance /= 2) {
      const float other = __shfl_xor_sync(kAllLanes, value, distance);
      value = fmaxf(value, other);
    }
  };

  for (unsigned row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* const elements = x + std::size_t{row} * columns;
    float value = -INFINITY;
    unsigned index = columns;
    for (unsigned i = threadIdx.x; i < columns; i += blockDim.x) {
      take_better(value, index, elements[i], i);
    }
    reduce_warp(value, index);
    __syncthreads();
    if (lane == 0) {
      s_value[warp] = value;
      s_index[warp] = index;
    }
    __syncthreads();
    if (warp == 0) {
      value = lane < warps ? s_value[lane] : -INFINITY;
      index = lane < warps ? s_index[lane] : columns;
      reduce_warp(value, index);
      if (lane == 0) {
        best[row] = value;
        where[row] = index;
      }
    }
  }
}
