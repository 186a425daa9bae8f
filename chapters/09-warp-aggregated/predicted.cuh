// The kernels of the exercise predict_atomics that are no rungs: filters, and a split into two
// lists, which make their atomics in other places than the rungs do.
#pragma once

#include <course/collectives.cuh>
#include <course/ptx.cuh>
#include <cstddef>

#include "aggregate.cuh"
#include "filter.cuh"

__global__ void filter_by_vote(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int x = i < n ? d_x[i] : kNotKept;
  const unsigned votes = __ballot_sync(course::kAllLanes, is_kept(x));
  Count base = 0;
  if (threadIdx.x % course::kWarpSize == 0) base = atomicAdd(d_count, Count(__popc(votes)));
  base = __shfl_sync(course::kAllLanes, base, 0);
  const int rank = __popc(votes & course::lanemask_lt());
  if (is_kept(x)) d_out[base + static_cast<unsigned>(rank)] = x;
}

__global__ void filter_in_turns(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    if (is_kept(d_x[i])) d_out[atomic_agg_inc(d_count)] = d_x[i];
  }
}

/// n is a multiple of the threads of the grid.
__global__ void count_in_turns(const int* d_x, std::size_t n, Count* d_count) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  unsigned kept = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    kept += is_kept(d_x[i]) ? 1u : 0u;
  }
  kept = course::warp_reduce(kept, course::Sum{});
  if (threadIdx.x % course::kWarpSize == 0) atomicAdd(d_count, Count{kept});
}

__global__ void split_in_two(const int* d_x, std::size_t n, int* d_out, int* d_rest,
                             Count* d_counts) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (is_kept(d_x[i])) {
    d_out[atomic_agg_inc(&d_counts[0])] = d_x[i];
  } else {
    d_rest[atomic_agg_inc(&d_counts[1])] = d_x[i];
  }
}
