// The best softmax of the course so far: launch_softmax() of chapter 15, in a namespace (see best_histogram.cuh). Rows
// that no team can keep in its registers are read twice, by one block each.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <course/buffer.cuh>
#include <course/bulk.cuh>
#include <course/cluster.cuh>
#include <course/collectives.cuh>
#include <course/device.cuh>
#include <course/error.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/merge.cuh>
#include <course/pack.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

namespace chapter_15 {
#include "../15-row-reductions/softmax.cuh"
}  // namespace chapter_15

/// Sets row r of d_y to the softmax of row r of d_x.
struct BestSoftmax {
  void operator()(const float* d_x, std::size_t rows, std::size_t width, float* d_y) {
    chapter_15::launch_softmax<float>({d_x, d_y, rows, width});
  }
};
