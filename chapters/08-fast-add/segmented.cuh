// The same bits in every run: no atomics, and an order that nothing can change.
// Rungs: sum_sorted.
// Input: the updates of scatter.cuh, sorted by target, stably: those of one target are next to
// each other, in their old order.
#pragma once

#include <cuda_fp16.h>

#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <cstddef>

#include "grid.cuh"

/// The first of the places 0..n at which d_index, which ascends, is at least t.
__device__ inline std::size_t first_at_least(const int* d_index, std::size_t n, std::size_t t) {
  std::size_t first = 0;
  while (n > 0) {
    const std::size_t half = n / 2;
    if (static_cast<std::size_t>(d_index[first + half]) < t) {
      first += half + 1;
      n -= half + 1;
    } else {
      n = half;
    }
  }
  return first;
}

// Question: how does one get the same bits in every run?
// Changes:  a warp for each target finds the target's updates, sums them in float, lane by lane
//           and then by shuffles, always in the same order; and stores.
// Cost:     no atomic at all, but the updates must be sorted first.
__global__ void sum_sorted(const __half* d_values, const int* d_index, std::size_t n,
                           __half* d_table, std::size_t targets) {
  const std::size_t warp =
      (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / course::kWarpSize;  // and its target
  if (warp >= targets) return;
  const std::size_t lane = threadIdx.x % course::kWarpSize;
  const std::size_t end = first_at_least(d_index, n, warp + 1);
  float sum = -0.0f;
  for (std::size_t i = first_at_least(d_index, end, warp) + lane; i < end; i += course::kWarpSize) {
    sum += __half2float(d_values[i]);
  }
  sum = course::warp_reduce(sum, course::Sum{});
  // No other warp has this element: a plain addition will do.
  if (lane == 0) d_table[warp] = __float2half(__half2float(d_table[warp]) + sum);
}

/// Adds to d_table[d_index[i]] the values d_values[i], i < n. The index ascends.
inline void launch_sum_sorted(const __half* d_values, const int* d_index, std::size_t n,
                              __half* d_table, std::size_t targets, cudaStream_t stream) {
  const unsigned blocks = n == 0 ? 0 : blocks_for(targets * course::kWarpSize);
  course::launch(sum_sorted, {blocks, kBlockSize, 0, stream}, d_values, d_index, n, d_table,
                 targets);
}
