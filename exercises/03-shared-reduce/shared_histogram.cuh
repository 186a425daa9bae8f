// Exercise shared_histogram: 16384 bins in shared memory that has room for half of them.
//
// A sensor sends samples of 14 bits. 16384 bins of 32 bits are 64 KiB, more than the 48 KiB that a
// launch can give a block without further settings. With 16 bits per bin they are 32 KiB: two bins
// in each word. But a bin of 16 bits counts to 65535. One more, and the lower bin of a word carries
// into the upper one.
//
// Try it: ./course check shared_histogram
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

constexpr unsigned kLevels = 16384;  // values of a sample
constexpr unsigned kPairs = kLevels / 2;
constexpr std::size_t kSharedBytes = kPairs * sizeof(unsigned);  // 32 KiB
constexpr unsigned kMostInBin = 65535;

/// Adds to bins[v], v = 0..16383, the number of samples[i], i < n, that are v.
/// - It adds: bins may hold the counts of other samples already. The caller initialises them.
/// - Samples of 16384 and more are invalid, and are not counted.
/// - Right however often a value occurs: also if one block counts it more than 65535 times.
/// - Right for every one-dimensional grid with blocks of 32 to 1024 threads, a multiple of 32. The
///   launch gives a block kSharedBytes of dynamic shared memory: that is enough. n may be 0, or
///   more than 2^32.
/// - Counts in shared memory: if n is at most 32768, each block adds to each bin at most once, and
///   not at all to a bin in which it has counted nothing.
/// - All threads of the grid share the work: loading, clearing pairs, and adding them to the bins.
__global__ void shared_histogram(const unsigned short* samples, std::size_t n, unsigned* bins) {
  // Bin v is the lower half of s_pairs[v / 2] if v is even, and the upper one if it is odd.
  extern __shared__ unsigned s_pairs[];
  // TODO(you): count the samples.
  (void)samples, (void)n, (void)bins, (void)s_pairs;  // delete this
}
