// How does a block sum the values of its warps?
// Rungs: sum_two_warp_reduces, sum_grid_stride.
// sum_two_warp_reduces shows a block reduction; sum_grid_stride takes it from
// course/collectives.cuh.
#pragma once

#include <algorithm>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <cstddef>

#include "grid.cuh"
#include "warp_reduce.cuh"

// Question: how does a block issue one atomic, without a tree and its barriers?
// Changes:  warp sums are stored in shared memory, and one more warp reduction sums them.
// Cost:     one barrier, 32 floats of shared memory, ten shuffles; one atomic per block.
__global__ void sum_two_warp_reduces(const float* d_x, std::size_t n, float* d_y) {
  __shared__ float s_warp[course::kMaxWarps];  // warp w's sum
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const float warp_sum = warp_sum_down(i < n ? d_x[i] : 0.0f);
  if (lane == 0) s_warp[warp] = warp_sum;  // lane 0 alone has it
  __syncthreads();                         // s_warp is complete
  if (warp != 0) return;
  // Lanes without a warp contribute 0: s_warp has no value for them.
  const float sum = warp_sum_down(lane < blockDim.x / course::kWarpSize ? s_warp[lane] : 0.0f);
  if (lane == 0) atomicAdd(d_y, sum);
}

// Question: why pay for a reduction and an atomic per 256 elements?
// Changes:  only as many blocks as are resident, and every thread sums many elements first.
// Cost:     one addition per element; reductions and atomics no longer grow with n.
__global__ void sum_grid_stride(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  float sum = 0.0f;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    sum += d_x[i];
  }
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_y, sum);
}

/// Adds x[0] + ... + x[n-1] to *d_y.
inline void launch_sum_grid_stride(const float* d_x, std::size_t n, float* d_y) {
  static const unsigned resident = course::resident_blocks(sum_grid_stride, kBlockSize);
  course::launch(sum_grid_stride, {std::min(blocks_for(n), resident), kBlockSize}, d_x, n, d_y);
}
