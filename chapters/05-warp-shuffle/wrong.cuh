// Four kernels that are wrong on purpose: what happens without the lines that look redundant?
// Rungs: sum_tail_without_syncwarp, sum_down_by_lane_1, sum_divergent_shuffle,
//        sums_without_second_barrier.
// races.cu proves that each is wrong, and shows how.
#pragma once

#include <course/collectives.cuh>
#include <cstddef>

#include "grid.cuh"
#include "warp_reduce.cuh"

// Question: the last 32 threads are one warp; do they not run in lockstep anyway?
// Changes:  sum_syncwarp_tree without its __syncwarp().
// Cost:     since Volta lanes are scheduled independently: a data race, even if the sum is right.
__global__ void sum_tail_without_syncwarp(const float* d_x, std::size_t n, float* d_y) {
  __shared__ float s_x[kBlockSize];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + t;
  s_x[t] = i < n ? d_x[i] : 0.0f;
  __syncthreads();
  for (unsigned half = kBlockSize / 2; half >= course::kWarpSize; half /= 2) {
    if (t < half) s_x[t] += s_x[t + half];
    __syncthreads();
  }
  if (t >= course::kWarpSize) return;
  for (unsigned half = course::kWarpSize / 2; half > 0; half /= 2) {
    if (t < half) s_x[t] += s_x[t + half];  // wrong on purpose: is s_x[t + half] written already?
  }
  if (t == 0) atomicAdd(d_y, s_x[0]);
}

// Question: does __shfl_down_sync leave the sum in every lane?
// Changes:  sum_shuffle_down, but lane 1 adds its result.
// Cost:     lane 1 has x[1..31], and x[16] twice: wrong, unless x[0] == x[16].
__global__ void sum_down_by_lane_1(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  const float sum = warp_sum_down(i < n ? d_x[i] : 0.0f);
  if (threadIdx.x % course::kWarpSize == 1) atomicAdd(d_y, sum);  // wrong on purpose
}

// Question: may lanes without an element skip the shuffles?
// Changes:  sum_shuffle_down with its shuffles under `if (i < n)`.
// Cost:     the mask names lanes that do not take part: undefined, a wrong sum or a hang.
__global__ void sum_divergent_shuffle(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  if (i < n) {
    const float sum = warp_sum_down(d_x[i]);  // wrong on purpose, if n is no multiple of 32
    if (threadIdx.x % course::kWarpSize == 0) atomicAdd(d_y, sum);
  }
  __syncthreads();  // where the other lanes wait: they exist, and do not take part
}

/// block_reduce() without the barrier before its store: right for one call, not for two.
__device__ __forceinline__ float block_sum_once(float value) {
  __shared__ float s_warp[course::kMaxWarps];
  const unsigned lane = threadIdx.x % course::kWarpSize;
  value = course::warp_reduce(value, course::Sum{});
  if (lane == 0) s_warp[threadIdx.x / course::kWarpSize] = value;  // wrong on purpose: who reads?
  __syncthreads();
  return course::warp_reduce(lane < blockDim.x / course::kWarpSize ? s_warp[lane] : 0.0f,
                             course::Sum{});
}

// Question: one barrier is enough for one block reduction; is it enough for two?
// Changes:  the sum and the sum of squares, one block_sum_once() after the other.
// Cost:     a fast warp overwrites s_warp while a slow one still reads the first sums: a race.
__global__ void sums_without_second_barrier(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  const float x = i < n ? d_x[i] : 0.0f;
  const float sum = block_sum_once(x);
  const float squares = block_sum_once(x * x);
  // Every warp has both. The last one adds them: it is the most likely to have read too late.
  if (threadIdx.x == kBlockSize - 1) {
    atomicAdd(&d_y[0], sum);
    atomicAdd(&d_y[1], squares);
  }
}
