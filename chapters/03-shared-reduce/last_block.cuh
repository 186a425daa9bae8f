// What sums the blocks' sums? A second kernel, or the block that is done last.
// Rungs: sum_two_kernels, sum_last_block. Both give the same bits in every run: they add the sums
// of the blocks in the order of their indices, not in the order in which blocks finish.
#pragma once

#include <course/launch.cuh>
#include <cstddef>

#include "grid_stride.cuh"

// Question: can the blocks' sums be added without atomics, and without the host?
// Changes:  blocks store their sums again; the same kernel runs once more, as one block, on those.
// Cost:     a second launch, which begins when the first has ended. Nothing to initialise.
template <class T>
__global__ void tile_sums(const T* d_x, std::size_t n, T* d_sums) {
  __shared__ T s_y[kBlockSize];
  s_y[threadIdx.x] = thread_sum(d_x, n);
  tree_sum(s_y);
  if (threadIdx.x == 0) d_sums[blockIdx.x] = s_y[0];
}

/// Sets *d_y to x[0] + ... + x[n-1]; 0 if n == 0.
template <class T>
void sum_two_kernels(course::Grid grid, const T* d_x, std::size_t n, T* d_y,
                     Workspace<T>& workspace) {
  T* const d_parts = workspace.parts.data();
  course::launch(tile_sums<T>, grid, d_x, n, d_parts);
  // Begins when the first has ended, and sees what it wrote.
  course::launch(tile_sums<T>, {1, kBlockSize}, d_parts, grid.blocks.x, d_y);
}

/// Tells every thread of a block whether the block is the last one to draw a ticket. If so, it sees
/// what thread 0 of every other block wrote before it drew one. *d_ticket is 0 before the first
/// block draws, and 0 again after the last: the next launch can use it.
__device__ inline bool is_last_block(unsigned* d_ticket) {
  __shared__ bool s_is_last;
  if (threadIdx.x == 0) {
    __threadfence();  // a block that sees this ticket taken sees this block's sum ...
    s_is_last = atomicInc(d_ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // ... and this block sees the sums of all tickets before its own
  }
  __syncthreads();  // for the other threads of the block: they read s_is_last
  return s_is_last;
}

/// The calling thread's share of the sums that the blocks left: each kBlockSize-th.
template <class T>
__device__ T sum_of_parts(const T* d_parts) {
  T sum = T(0);
  for (unsigned b = threadIdx.x; b < gridDim.x; b += kBlockSize) sum += d_parts[b];
  return sum;
}

// Question: does it take a second launch to know that all blocks are done?
// Changes:  every block draws a ticket; the one that draws the last number adds the sums.
// Cost:     a fence and one atomic per block, on a counter that resets itself; then one more tree.
template <class T>
__global__ void sum_last_block(const T* d_x, std::size_t n, T* d_parts, unsigned* d_ticket,
                               T* d_y) {
  __shared__ T s_y[kBlockSize];
  s_y[threadIdx.x] = thread_sum(d_x, n);
  tree_sum(s_y);
  if (threadIdx.x == 0) d_parts[blockIdx.x] = s_y[0];
  if (!is_last_block(d_ticket)) return;  // all threads of the block leave, or none
  s_y[threadIdx.x] = sum_of_parts(d_parts);
  tree_sum(s_y);
  if (threadIdx.x == 0) *d_y = s_y[0];
}
