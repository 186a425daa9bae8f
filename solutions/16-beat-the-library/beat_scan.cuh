// Challenge beat_scan: the prefix sums of n floats, 2^20 to 2^28 of them, faster than CUB.
//
// The starter is right, and slow: one block goes through the array. Make it as fast as you can; any
// kernels, any number of launches. The check proves that it stays right, and asks for more blocks.
//
// Try it: ./course check beat_scan, then ./course score beat_scan
#pragma once

#include <course/exercise.cuh>
#include <cstddef>

#include "best_scan.cuh"

/// The course's own best rung. It is no limit: chapter 16's table says how far the memory's is.
struct BeatScan {
  /// Sets d_out[i] to x[0] + ... + x[i], for each i < n.
  /// - d_out may hold anything before, and does not overlap d_x; nothing else is written. Both are
  ///   aligned to floats, no more; n may exceed 2^32.
  /// - Sums that need no rounding are exact. Others are as near as i float additions in any order.
  /// - An infinity or a NaN reaches the sums from its place on, and no sum before it.
  /// - Kernels read the numbers, not the host.
  /// - Launches in the default stream; the result need not be there when this returns.
  /// - Called again, with any n, when the call before is done or in the same stream after it.
  void operator()(const float* d_x, std::size_t n, float* d_out) { best(d_x, n, d_out); }

  // What is kept from one call to the next, such as a course::DeviceBuffer.
  BestScan best;
};
