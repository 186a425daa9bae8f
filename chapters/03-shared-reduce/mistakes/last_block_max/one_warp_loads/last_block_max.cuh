// In every block one warp loads all elements and the others wait for it: right, and as slow as
// blocks of 32 threads. The loads of the busiest warp are counted.
//
// GPU: may slip through: the largest is right, and loads are not counted there.
#pragma once

#include <climits>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

/// The largest of the numbers that the threads of a block have: thread 0 gets it, the others get
/// anything. blockDim.x is a power of two from 32 to 1024, and all threads call this.
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
  const std::size_t stride = std::size_t{gridDim.x} * 32;
  int largest = INT_MIN;
  for (std::size_t i = std::size_t{blockIdx.x} * 32 + threadIdx.x; threadIdx.x < 32 && i < n;
       i += stride) {
    largest = max(largest, x[i]);
  }
  largest = largest_of_block(largest);

  __shared__ bool s_is_last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = largest;
    __threadfence();  // whoever sees my ticket taken sees my part, too
    // Counts 0, 1, ... and from gridDim.x - 1 back to 0: ready for the next launch.
    s_is_last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // if I saw all tickets taken, I see all parts
  }
  __syncthreads();  // the whole block learns whether it is last
  if (!s_is_last) return;

  largest = INT_MIN;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) largest = max(largest, parts[b]);
  largest = largest_of_block(largest);
  if (threadIdx.x == 0) *y = largest;
}
