// The task "sum": its data, and a group of the ladder.
#pragma once

#include <array>
#include <course/buffer.cuh>
#include <course/ladder.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "tasks.cuh"
#include "vendor.cuh"

/// n floats k/8, k from -7 to 7, in no order. Partial sums of any order stay near 0: a float sum of
/// 2^28 of them is exact, and one lost element shows.
inline std::vector<float> sum_input(std::size_t n) {
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(static_cast<int>(stirred_below(i, 15)) - 7) / 8;
  }
  return x;
}

inline double sum_reference(const std::vector<float>& x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value);
  return sum;
}

/// Runs the rungs, and the vendor's library, on n floats.
inline void sum_group(course::Ladder& ladder, const std::vector<Rung<SumAnswer>>& rungs,
                      std::size_t n) {
  const std::vector<float> x = sum_input(n);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> y(1);
  ladder.reference("sum_reference", sum_reference(x), "one CPU thread, in double", n);
  const auto row = [&](course::Rung rung) {
    rung.reset = [&] { y.fill_bytes(0xFF); };  // NaN
    rung.result = [&] { return static_cast<double>(y.front()); };
    rung.bytes = d_x.bytes() + y.bytes();
    return rung;
  };
  answer_rungs(ladder, rungs, n, row,
               [&](const SumAnswer& answer) { answer(d_x.data(), n, y.data()); });
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_sum(d_x.data(), n, y.data())));
#endif
}

/// All groups of the task.
inline void sum_groups(course::Ladder& ladder, const std::vector<Rung<SumAnswer>>& rungs) {
  constexpr std::size_t kOne = 1;
  for (const std::size_t n : ladder.sizes({kOne << 20, kOne << 24, kOne << 28})) {
    sum_group(ladder, rungs, n);
  }
}
