// The rungs of chapter 00, each once: ladder.cu and selfcheck.cu read this table.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "add_one.cuh"

/// A rung that sets y[i] to x[i] + 1, i = 0..n-1.
struct AddOneRung {
  std::string name, changed;
  void (*launch)(const float* d_x, std::size_t n, float* d_y);
  unsigned (*blocks)(std::size_t n);  // of the grid
  unsigned threads;                   // of a block
  /// With more elements, one thread takes seconds for each of the ladder's launches.
  std::size_t most_n = ~std::size_t{0};
};

inline std::vector<AddOneRung> add_one_rungs() {
  const auto one = [](std::size_t) { return 1u; };
  return {
      {"add_one_one_thread", "the host's loop in a kernel: one thread", launch_add_one_one_thread,
       one, 1, std::size_t{1} << 20},
      {"add_one_one_block", "256 threads share the loop: one block", launch_add_one_one_block, one,
       kBlockSize},
      {"add_one_grid", "a thread for each element: a grid", launch_add_one_grid,
       [](std::size_t n) { return course::blocks_for(n, kBlockSize); }, kBlockSize},
  };
}
