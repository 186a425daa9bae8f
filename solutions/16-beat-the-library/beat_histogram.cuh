// Challenge beat_histogram: how often does each byte occur? 2^28 bytes, 10 to 90 % of them equal.
//
// The starter is right, and slow: one atomic per byte. Make it as fast as you can; any kernels, any
// number of launches. The check proves that it stays right, and asks for at most one atomic
// per four bytes.
//
// Try it: ./course check beat_histogram, then ./course score beat_histogram
#pragma once

#include <course/exercise.cuh>
#include <cstddef>

#include "best_histogram.cuh"

/// The course's own best rung. It is no limit: chapter 16's table says how far the memory's is.
struct BeatHistogram {
  /// Sets d_bins[b] to how often b occurs in d_bytes[0..n-1], for b from 0 to 255.
  /// - d_bins may hold anything before. d_bytes may begin at any address; n may exceed 2^32, and no
  ///   count does.
  /// - Kernels read the bytes, not the host.
  /// - Launches in the default stream; the result need not be there when this returns.
  /// - Called again, with any n, when the call before is done or in the same stream after it.
  void operator()(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
    best(d_bytes, n, d_bins);
  }

  // What is kept from one call to the next, such as a course::DeviceBuffer.
  BestHistogram best;
};
