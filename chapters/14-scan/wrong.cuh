// Wrong on purpose: scans without what holds them together.
// Rungs: scan_one_buffer, scan_value_and_flag (races), scan_without_ticket (waits for ever).
#pragma once

#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>
#include <cstddef>

#include "levels.cuh"
#include "one_pass.cuh"
#include "tile.cuh"

// Question: does Hillis and Steele's scan need its second buffer?
// Changes:  scan_two_buffers with one: a thread adds to the sum that another one reads.
// Cost:     a race. A thread may read a sum that has grown already, and counts elements twice.
__global__ void scan_one_buffer(const float* d_x, std::size_t n, float* d_out, float* d_totals) {
  __shared__ float s_sum[kBlockSize];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + t;
  s_sum[t] = i < n ? d_x[i] : 0.0f;
  __syncthreads();
  for (unsigned distance = 1; distance < kBlockSize; distance *= 2) {
    if (t >= distance) s_sum[t] += s_sum[t - distance];  // wrong on purpose: is it the old sum?
    __syncthreads();
  }
  if (i < n) d_out[i] = s_sum[t];
  if (t == kBlockSize - 1) d_totals[blockIdx.x] = s_sum[t];
}

/// A tile's value, and whether it is there: in two words.
struct ValueAndFlag {
  float* d_upto;     // the sum up to the end of tile b
  unsigned* d_flag;  // 1: it is there
};

// Question: why do a value and its status share a word?
// Changes:  the value is stored first, and a flag after it, which the next tile waits for.
// Cost:     nothing orders the two stores: who sees the flag may read an old value. A race.
__global__ void scan_value_and_flag(const float* d_x, std::size_t n, float* d_out,
                                    unsigned* d_ticket, ValueAndFlag state) {
  __shared__ float s_before;
  __shared__ unsigned s_tile;
  if (threadIdx.x == 0) s_tile = atomicInc(d_ticket, gridDim.x - 1);
  __syncthreads();
  const unsigned tile = s_tile;
  const std::size_t i = std::size_t{tile} * kBlockSize + threadIdx.x;
  const float x = i < n ? d_x[i] : 0.0f;
  const auto [before, total] = course::block_exclusive_scan(x, course::Sum{});
  if (threadIdx.x == 0) {
    s_before = 0;
    if (tile > 0) {
      while (atomicAdd(&state.d_flag[tile - 1], 0u) == 0) {
      }
      s_before = state.d_upto[tile - 1];
    }
    state.d_upto[tile] = s_before + total;
    atomicExch(&state.d_flag[tile],
               1u);  // wrong on purpose: nothing says that the value comes first
  }
  __syncthreads();
  if (i < n) d_out[i] = s_before + (before + x);
}

// Question: is blockIdx.x not a ticket, too?
// Changes:  scan_warp_looks_back, whose tile is blockIdx.x: a block waits for those of lower numbers.
// Cost:     nothing promises that these have started. If blocks that wait fill the GPU, none ever does.
template <class ShapeT>
__global__ void __launch_bounds__(ShapeT::kThreads)
    scan_without_ticket(Arrays<float> in, course::TileStates<float> states) {
  __shared__ float s_totals[ShapeT::kWarps];
  __shared__ float s_base;
  const course::Sum op;
  const unsigned tile = blockIdx.x;  // wrong on purpose: the block before may not have started
  Pack<float> x[ShapeT::kLoads];
  const Warps<float> warps = load_and_scan<ShapeT, Scan::inclusive>(in, tile, op, s_totals, x);
  if (threadIdx.x < course::kWarpSize) {
    if (threadIdx.x == 0) ByWarp::tell(states, tile, warps.total, op);
    const float base = ByWarp::look_back(states, tile, warps.total, op);
    if (threadIdx.x == 0) s_base = base;
  }
  __syncthreads();
  store_tile<ShapeT>(in, tile, s_base + warps.before, op, [&](unsigned k) { return x[k]; });
}
