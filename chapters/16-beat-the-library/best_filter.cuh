// The best ordered filter of the course so far: filter_pipelined of chapter 09, in a namespace (see
// best_histogram.cuh).
#pragma once

#include <algorithm>
#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/data.cuh>
#include <course/error.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <course/ptx.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>
#include <string>
#include <vector>

namespace chapter_09 {
#include "../09-warp-aggregated/inputs.cuh"
#include "../09-warp-aggregated/pipelined.cuh"
}  // namespace chapter_09

/// Writes the positive numbers of x[0..n-1] to d_out, in their order, and their number to *d_count.
struct BestFilter {
  void operator()(const int* d_x, std::size_t n, int* d_out, unsigned long long* d_count) {
    chapter_09::launch_filter_pipelined(d_x, n, d_out, d_count, look_back, nullptr);
  }
  chapter_09::LookBack look_back;
};
