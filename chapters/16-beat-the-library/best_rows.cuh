// The best addition of rows of the course so far: rows_sorted of chapter 08, in a namespace (see
// best_histogram.cuh).
#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/data.cuh>
#include <course/error.cuh>
#include <course/grid.cuh>
#include <course/ladder.cuh>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <course/ptx.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace chapter_08 {
#include "../08-fast-add/sorted.cuh"
#include "../08-fast-add/tables.cuh"
}  // namespace chapter_08

/// Adds each source row to the row of the table that the index names.
struct BestRows {
  void operator()(const __half* d_source, const int* d_index, std::size_t rows, std::size_t width,
                  __half* d_table, std::size_t table_rows) {
    chapter_08::rows_sorted({d_source, d_index, rows, width}, d_table, table_rows, workspace,
                            nullptr);
  }
  chapter_08::SortWorkspace workspace;
};
