// The rungs of chapter 01 that form groups, each once: ladder.cu and selfcheck.cu read this table.
#pragma once

#include <course/launch.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "contention.cuh"

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
