// Exercise last_block_max: the largest of an array, in one launch, with nothing to initialise.
//
// Each block stores the largest of its elements in parts[blockIdx.x]. The block that finishes last
// finds the largest of those. No block waits for another one: a ticket tells it whether it is last.
//
// Try it: ./course check last_block_max
#pragma once

#include <climits>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

/// Returns the largest of the numbers that the threads of a block have, in thread 0. In the others
/// the result is unspecified. blockDim.x is a power of two from 32 to 1024; all threads call this.
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
  return s_max[threadIdx.x];  // each its own, which no other thread writes any more
}

/// Sets *y to the largest of x[0..n-1], or to INT_MIN if n == 0.
/// - Right for every one-dimensional grid, of one block, too. The block size is a power of two from
///   32 to 1024. All threads share the work of loading x, and all threads of the last block share
///   that of loading parts. n may be more than 2^32.
/// - parts has gridDim.x elements. They, and *y, are not initialised.
/// - *ticket is 0 before the very first launch, and no host code resets it: each launch leaves it
///   at 0 for the next one, which may have another grid and another array.
/// - One atomic per block on global memory, and at most one more in the whole launch.
__global__ void last_block_max(const int* x, std::size_t n, int* parts, unsigned* ticket, int* y) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  int largest = INT_MIN;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
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
