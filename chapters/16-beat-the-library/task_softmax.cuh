// The task "softmax": its data, and a group of the ladder.
#pragma once

#include <algorithm>
#include <cmath>
#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/ladder.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "best_softmax.cuh"
#include "tasks.cuh"
#include "vendor.cuh"

namespace chapter_15 {
#include "../15-row-reductions/inputs.cuh"
}  // namespace chapter_15

/// Ok if each element is as near to its exact value as the task asks for. `expected` has the first rows, which repeat
/// themselves to the end of `found`.
inline course::Verdict softmax_is_near(const std::vector<float>& found,
                                       const std::vector<double>& expected, std::size_t width) {
  const double relative = 1e-4 + static_cast<double>(width) * course::kFloatRoundoff;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double right = expected[i % expected.size()], tolerance = relative * right + 1e-12;
    if (std::fabs(static_cast<double>(found[i]) - right) <= tolerance) continue;
    return course::close(static_cast<double>(found[i]), right, tolerance,
                         "y[" + std::to_string(i) + "]");
  }
  return {};
}

/// Runs the rungs, and the vendor's library, on rows of `width` floats, n in all.
inline void softmax_group(course::Ladder& ladder, const std::vector<Rung<SoftmaxAnswer>>& rungs,
                          std::size_t n, std::size_t width) {
  const std::size_t rows = n / width,  // of which the first ones repeat themselves
      rows_of_part = std::min(rows, std::max<std::size_t>(chapter_15::kPeriod / width, 1));
  const std::vector<float> part = chapter_15::balanced_values<float>(rows_of_part * width);
  const std::vector<double> expected = chapter_15::softmax_reference(part, width);
  std::vector<float> x(rows * width);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = part[i % part.size()];
  const auto d_x = course::DeviceBuffer<float>::from(x);
  x = {};
  course::DeviceBuffer<float> y(rows * width);
  ladder.reference("softmax_reference", expected[0],
                   std::to_string(rows) + " rows of " + std::to_string(width) +
                       " floats; the first element is shown",
                   n);
  ladder.input("softmax", course::DeviceBuffer<float>::from(part), {rows_of_part, width});
  const auto row = [&](course::Rung rung) {
    rung.reset = [&] { y.fill_bytes(0xFF); };  // NaN
    rung.result = [&] { return static_cast<double>(y.front()); };
    rung.check = [&, width] { return softmax_is_near(y.download(), expected, width); };
    rung.bytes = d_x.bytes() + y.bytes();
    return rung;
  };
  answer_rungs(ladder, rungs, n, row,
               [&](const SoftmaxAnswer& answer) { answer(d_x.data(), rows, width, y.data()); });
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_softmax(d_x.data(), rows, width, y.data())));
#endif
}

/// All groups of the task.
inline void softmax_groups(course::Ladder& ladder, const std::vector<Rung<SoftmaxAnswer>>& rungs) {
  constexpr std::size_t kOne = 1;
  for (const std::size_t n : ladder.sizes({kOne << 24, kOne << 28})) {
    for (const std::size_t width : {kOne << 10, kOne << 15}) {
      if (width <= n) softmax_group(ladder, rungs, n, width);
    }
  }
}
