// The rungs of chapter 01, each once: ladder.cu and selfcheck.cu read these tables.
#pragma once

#include <course/launch.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "contention.cuh"
#include "global_atomic.cuh"
#include "histogram.cuh"
#include "stagnation.cuh"

// ---- an array and one result -------------------------------------------------------------------

/// Adds x[0] + ... + x[n-1] to *d_y.
struct SumRung {
  std::string name, changed;
  void (*launch)(const float* d_x, std::size_t n, float* d_y);
  std::string because = {};  // not empty: wrong on purpose, by a race
};

inline std::vector<SumRung> sum_rungs() {
  return {{.name = "sum_racy",
           .changed = "d_y[0] += x, by every thread",
           .launch = launch_sum_racy,
           .because = "another thread stores between this thread's load and its store"},
          {.name = "sum_global_atomic",
           .changed = "one atomicAdd per element",
           .launch = launch_sum_global_atomic}};
}

/// Adds the number of elements above a threshold to *d_count.
struct CountRung {
  std::string name, changed;
  void (*launch)(const float* d_x, std::size_t n, float threshold, int* d_count);
};

inline std::vector<CountRung> count_rungs() {
  return {{"count_above", "atomicAdd on an int, by threads with a hit", launch_count_above}};
}

// ---- the same number, again and again ----------------------------------------------------------

/// Adds s.value s.count times to *y, which holds s.start before. The sum stagnates: all of these
/// rungs are wrong.
struct StagnationRung {
  std::string name, changed, because;
  bool on_host;  // y is in the host's memory; else in the device's
  void (*launch)(const Stagnation& s, float* y);
};

inline std::vector<StagnationRung> stagnation_rungs() {
  return {
      {"add_same_value_float", "1.23 again and again, in float, one CPU thread",
       "from 2^25 on, floats are 4 apart, and 1.23 is rounded away", true,
       [](const Stagnation& s, float* h_y) { *h_y = add_same_value_float(s); }},
      {"add_same_value", "the same with atomicAdd",
       "no update is lost, but each one is rounded in the same way", false,
       [](const Stagnation& s, float* d_y) {
         course::launch(add_same_value, {blocks_for(s.count), kBlockSize}, s.value, s.count, d_y);
       }},
  };
}

// ---- many addresses ----------------------------------------------------------------------------

/// Adds the counts of n bytes to d_bins[0..255].
struct HistogramRung {
  std::string name, changed;
  void (*launch)(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins);
};

inline std::vector<HistogramRung> histogram_rungs() {
  return {{"byte_histogram", "256 bins, the data choose the address",
           [](const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
             course::launch(byte_histogram, {blocks_for(n), kBlockSize}, d_bytes, n, d_bins);
           }}};
}

/// n threads add 1.0f each, thread i to d_y[i % addresses(n)].
struct ContentionRung {
  std::string name, changed;
  void (*launch)(std::size_t n, float* d_y);
  std::size_t (*addresses)(std::size_t n);
};

inline std::vector<ContentionRung> contention_rungs() {
  return {
      {"add_to_one_address", "n atomics on one address",
       [](std::size_t n, float* d_y) {
         course::launch(add_to_one_address, {blocks_for(n), kBlockSize}, n, d_y);
       },
       [](std::size_t) { return std::size_t{1}; }},
      {"add_to_256_bins", "n atomics on 256 addresses",
       [](std::size_t n, float* d_y) {
         course::launch(add_to_256_bins, {blocks_for(n), kBlockSize}, n, d_y);
       },
       [](std::size_t) { return kContentionBins; }},
      {"add_to_own_address", "n atomics on n addresses",
       [](std::size_t n, float* d_y) {
         course::launch(add_to_own_address, {blocks_for(n), kBlockSize}, n, d_y);
       },
       [](std::size_t n) { return n; }},
  };
}
