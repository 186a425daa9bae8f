// `_block` at an atomic's name: atomic among the threads of one block, and that is all it promises.
// Rungs: sum_block_atomic, sum_scope_too_small (wrong on purpose).
#pragma once

#include <cstddef>

#include "shared_tree.cuh"

// Question: does a block need a tree, or would an atomic on shared memory do?
// Changes:  one shared number per block; its threads add to it with atomicAdd_block.
// Cost:     one atomic per element after all: 256 in one queue, but the queue is the block's own.
template <class T>
__global__ void sum_block_atomic(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_sum;
  if (threadIdx.x == 0) s_sum = T(0);
  __syncthreads();  // shared memory holds anything at first: no thread adds before it is 0
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd_block(&s_sum, d_x[i]);
  __syncthreads();  // the sum is complete when all have added
  if (threadIdx.x == 0) atomicAdd(d_y, s_sum);
}

// Question: is atomicAdd_block the faster atomicAdd?
// Changes:  the tree's last line uses it, on an address that all blocks share.
// Cost:     blocks may lose each other's additions. A GPU that does all atomics in its L2 cache
//           happens to give the right sum; the program is wrong all the same.
template <class T>
__global__ void sum_scope_too_small(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_y[kBlockSize];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  s_y[threadIdx.x] = i < n ? d_x[i] : T(0);
  tree_sum(s_y);
  if (threadIdx.x == 0)
    atomicAdd_block(d_y, s_y[0]);  // wrong on purpose: d_y is not the block's own
}
