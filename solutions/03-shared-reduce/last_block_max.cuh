// Exercise last_block_max: the largest of an array, in one launch, and nothing to set before it.
//
// Each block leaves the largest of its elements in its place of `parts`. Whichever block is done
// last finds the largest of those. No thread waits for another block: a ticket tells who is last.
//
// Try it: meson test -C build last_block_max
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
  return s_max[threadIdx.x];  // each its own, which no other thread writes any more
}

/// Sets *y to the largest of x[0..n-1], or to INT_MIN if n == 0.
/// - Right for every one-dimensional grid, of one block, too. The block size is a power of two from
///   32 to 1024. All threads share the work of loading x, and those of the last block that of
///   loading parts. n may be more than 2^32.
/// - parts has gridDim.x places. They, and *y, hold anything before.
/// - *ticket is 0 before the very first launch. Nothing sets it again: launches follow one another,
///   with other grids and other arrays, so each leaves it at 0.
/// - Global memory sees one atomic per block, and at most one more in the whole launch.
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
