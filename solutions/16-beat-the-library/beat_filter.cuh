// Challenge beat_filter: the positive ones of 2^28 ints, in their order, faster than CUB.
//
// The starter is right, and slow: one block goes through the array. Make it as fast as you can; any
// kernels, any number of launches. The check proves that it stays right, and asks for more blocks.
//
// Try it: ./course check beat_filter, then ./course score beat_filter
#pragma once

#include <course/exercise.cuh>
#include <cstddef>

#include "best_filter.cuh"

/// The course's own best rung. It is no limit: chapter 16's table says how far the memory's is.
struct BeatFilter {
  /// Writes the numbers of x[0..n-1] that are > 0 to d_out[0], d_out[1], ..., in their order, and
  /// how many they are to *d_count.
  /// - d_out has room for what is kept, no more; nothing else is written. *d_count may hold anything
  ///   before. d_x and d_out are aligned to ints, no more; n may exceed 2^32.
  /// - Kernels read the numbers, not the host.
  /// - Launches in the default stream; the result need not be there when this returns.
  /// - Called again, with any n, when the call before is done or in the same stream after it.
  void operator()(const int* d_x, std::size_t n, int* d_out, unsigned long long* d_count) {
    best(d_x, n, d_out, d_count);
  }

  // What is kept from one call to the next, such as a course::DeviceBuffer.
  BestFilter best;
};
