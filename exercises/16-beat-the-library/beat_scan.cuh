// Challenge beat_scan: the prefix sums of n floats, 2^20 to 2^28 of them, faster than CUB.
//
// The starter is right, and slow: one block goes through the array. Make it as fast as you can; any
// kernels, any number of launches. The check proves that it stays right, and asks for more blocks.
//
// Try it: ./course check beat_scan, then ./course score beat_scan
#pragma once

#include <course/collectives.cuh>
#include <course/exercise.cuh>
#include <course/launch.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

__global__ void scan_naive(const float* d_x, std::size_t n, float* d_out) {
  // TODO(you): beat this.
  float sum = 0;  // before this piece
  for (std::size_t first = 0; first < n; first += blockDim.x) {
    const std::size_t i = first + threadIdx.x;
    const float x = i < n ? d_x[i] : 0.0f;
    const auto [before, total] = course::block_exclusive_scan(x, course::Sum{});
    if (i < n) d_out[i] = sum + before + x;
    sum += total;
  }
}

struct BeatScan {
  /// Sets d_out[i] to x[0] + ... + x[i], for each i < n.
  /// - d_out may hold anything before, and does not overlap d_x; nothing else is written. Both are
  ///   aligned to floats, no more; n may exceed 2^32.
  /// - Sums that need no rounding are exact. Others are as near as i float additions in any order.
  /// - An infinity or a NaN reaches the sums from its place on, and no sum before it.
  /// - Kernels read the numbers, not the host.
  /// - Launches in the default stream; the result need not be there when this returns.
  /// - Called again, with any n, when the call before is done or in the same stream after it.
  void operator()(const float* d_x, std::size_t n, float* d_out) {
    course::launch(scan_naive, {1, 1024}, d_x, n, d_out);
  }

  // What is kept from one call to the next, such as a course::DeviceBuffer, is a member here.
};
