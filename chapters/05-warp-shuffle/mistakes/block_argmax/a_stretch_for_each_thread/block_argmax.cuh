// Gives each thread a stretch of the row: right, but the lanes of a warp read far from each other,
// a sector of 32 bytes for every 4 that they use.
// GPU: may slip through: the answer is right, and nothing counts sectors there.
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
    const unsigned each = (columns + blockDim.x - 1) / blockDim.x;
    const unsigned first = threadIdx.x * each;
    for (unsigned i = first; i < columns && i < first + each; ++i) {
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
