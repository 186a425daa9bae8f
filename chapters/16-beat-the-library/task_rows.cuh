// The task "index_add of rows": a group of the ladder, with the data of chapter 08. The vendor's
// row is PyTorch's (torch_rows.py).
#pragma once

#include <course/buffer.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "best_rows.cuh"
#include "tasks.cuh"

/// Runs the rungs on `rows` rows of 64 halves, which are +1 or -1: every sum is exact.
inline void rows_group(course::Ladder& ladder, const std::vector<Rung<RowsAnswer>>& rungs,
                       std::size_t rows, std::size_t table_rows) {
  using namespace chapter_08;
  constexpr std::size_t kWidth = 64;
  const std::vector<__half> source = coin_flips<__half>(rows * kWidth);
  const std::vector<int> index = random_index(rows, table_rows);
  const std::vector<double> expected = rows_reference(source, index, kWidth, table_rows);
  const auto d_source = course::DeviceBuffer<__half>::from(source);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  course::DeviceBuffer<__half> table(table_rows * kWidth);
  ladder.reference(
      "rows_reference", expected[0],
      "rows of 64 halves into " + std::to_string(table_rows) + " rows; the first element is shown",
      rows);
  ladder.input("index", d_index);
  ladder.input("source", d_source, {rows, kWidth});
  ladder.input("expected", course::DeviceBuffer<float>::from(rounded<float>(expected)),
               {table_rows, kWidth});
  for (const Rung<RowsAnswer>& rung : rungs) {
    if (rows > rung.most) continue;
    const auto launch = [&] {
      rung.launch(d_source.data(), d_index.data(), rows, kWidth, table.data(), table_rows);
    };
    ladder.rung(table_rung(rung.name, rung.changed, table, launch, Judge<__half>(expected),
                           d_source.bytes() + d_index.bytes(), 0));
  }
}

/// All groups of the task.
inline void rows_groups(course::Ladder& ladder, const std::vector<Rung<RowsAnswer>>& rungs) {
  constexpr std::size_t kOne = 1;
  for (const std::size_t n : ladder.sizes({kOne << 28})) {
    rows_group(ladder, rungs, n / 64, course::kCpuDevice ? 16 : kOne << 16);
  }
}
