// Which of n numbers are positive, and where does each thread put the one that it keeps?
// Rungs: filter_reference, filter_plain, filter_block_counter.
// The counter is the output's end: a thread that adds k to it owns k indices from the old value on.
// All rungs but those of ordered.cuh append: d_out holds *d_count numbers already, and has room for
// n more. They add the number of what they keep to *d_count. Any order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "grid.cuh"
#include "kept.cuh"

/// The answer on the CPU: the positive numbers of x, in their order.
inline std::vector<int> filter_reference(const std::vector<int>& x) {
  std::vector<int> kept(x.size());
  kept.erase(std::copy_if(x.begin(), x.end(), kept.begin(), is_kept), kept.end());
  return kept;
}

// Question: how can threads append to one array, each at an index of its own?
// Changes:  std::copy_if with a thread for each number; a counter gives each kept number its index.
// Cost:     one atomic per kept number on one address. (nvcc makes it one per warp: see README.md.)
__global__ void filter_plain(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int x = i < n ? d_x[i] : kNotKept;
  if (is_kept(x)) d_out[atomicAdd(d_count, Count{1})] = x;
}

// Question: must there be an atomic on global memory for every kept number?
// Changes:  the block counts in shared memory, and one thread reserves indices for all of it.
// Cost:     one global atomic per block, one shared atomic per kept number, three barriers.
__global__ void filter_block_counter(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  __shared__ unsigned s_count;
  __shared__ Count s_base;
  if (threadIdx.x == 0) s_count = 0;
  __syncthreads();  // the counter is 0
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int x = i < n ? d_x[i] : kNotKept;
  unsigned rank = 0;
  if (is_kept(x)) rank = atomicAdd(&s_count, 1u);
  __syncthreads();  // the block has counted
  if (threadIdx.x == 0) s_base = atomicAdd(d_count, Count{s_count});
  __syncthreads();  // the block's indices begin at s_base
  if (is_kept(x)) d_out[s_base + rank] = x;
}
