// Challenge beat_sum: the sum of n floats, 2^20 to 2^28 of them, faster than CUB.
//
// The starter is right, and slow: one atomic per number. Make it as fast as you can; any kernels, any
// number of launches. The check proves that it stays right, and asks for at most one
// atomic per 32 numbers.
//
// Try it: ./course check beat_sum, then ./course score beat_sum
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

__global__ void sum_naive(const float* d_x, std::size_t n, float* d_y) {
  // TODO(you): beat this.
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(d_y, d_x[i]);
}

struct BeatSum {
  /// Sets *d_y to x[0] + ... + x[n-1], and to 0 if n == 0.
  /// - *d_y may hold anything before. d_x is aligned to floats, no more; n may exceed 2^32.
  /// - Sums that need no rounding are exact. Others are as near as n - 1 float additions in any order.
  /// - Kernels read the numbers, not the host.
  /// - Launches in the default stream; the result need not be there when this returns.
  /// - Called again, with any n, when the call before is done or in the same stream after it.
  void operator()(const float* d_x, std::size_t n, float* d_y) {
    CUDA_CHECK(cudaMemsetAsync(d_y, 0, sizeof *d_y));
    course::launch(sum_naive, {course::blocks_for(n, 256), 256}, d_x, n, d_y);
  }

  // What is kept from one call to the next, such as a course::DeviceBuffer, is a member here.
};
