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

NOT_STARTED  // delete this line when you begin

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

  // TODO(you): this is right with one block only. Draw tickets, and let the last block finish. What
  // has to be visible to whom when a ticket is drawn?
  if (threadIdx.x == 0) parts[blockIdx.x] = largest;
  if (threadIdx.x == 0) *y = parts[blockIdx.x];
  (void)ticket;  // delete this
}
