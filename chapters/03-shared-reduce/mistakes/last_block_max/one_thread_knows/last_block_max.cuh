// Thread 0 draws the ticket and keeps what it learned to itself: the other threads of the last
// block go home, and thread 0 waits at the barriers of the tree alone.
#pragma once

#include <climits>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__device__ inline int largest_of_block(int mine) {
  __shared__ int s_max[1024];
  __syncthreads();  // an earlier call may still be reading
  s_max[threadIdx.x] = mine;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) {
      s_max[threadIdx.x] = max(s_max[threadIdx.x], s_max[threadIdx.x + half]);
    }
  }
  return s_max[threadIdx.x];  // each its own, which nobody else writes any more
}

__global__ void last_block_max(const int* x, std::size_t n, int* parts, unsigned* ticket, int* y) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  int largest = INT_MIN;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    largest = max(largest, x[i]);
  }
  largest = largest_of_block(largest);

  bool is_last = false;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = largest;
    __threadfence();
    is_last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  if (is_last) {
    __threadfence();
    int all = INT_MIN;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) all = max(all, parts[b]);
    all = largest_of_block(all);
    if (threadIdx.x == 0) {
      *y = all;
      *ticket = 0;
    }
  }
}
