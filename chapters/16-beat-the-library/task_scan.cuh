// The task "scan": a group of the ladder, with the data of chapter 14.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/data.cuh>
#include <course/error.cuh>
#include <course/ladder.cuh>
#include <course/launch.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "best_scan.cuh"
#include "tasks.cuh"
#include "vendor.cuh"

namespace chapter_14 {
#include "../14-scan/inputs.cuh"
}  // namespace chapter_14

/// The prefix sums of x, which are exact.
inline std::vector<float> scan_sums(const std::vector<float>& x) {
  const std::vector<double> sums = chapter_14::scan_reference(x);
  return {sums.begin(), sums.end()};
}

/// Runs the rungs, and the vendor's library, on n floats.
inline void scan_group(course::Ladder& ladder, const std::vector<Rung<ScanAnswer>>& rungs,
                       std::size_t n) {
  std::vector<float> x = chapter_14::exact_input(n), sums = scan_sums(x);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  const auto expected = course::DeviceBuffer<float>::from(sums);
  course::DeviceBuffer<float> out(n);
  ladder.reference("scan_reference", n == 0 ? 0 : static_cast<double>(sums.back()),
                   "prefix sums of floats; the last one is shown", n);
  x = sums = {};  // of 2^28 numbers one copy is enough
  const auto row = [&](course::Rung rung) {
    rung.reset = [&] { out.fill_bytes(0xFF); };  // NaN
    rung.result = [&, n] { return n == 0 ? 0 : chapter_14::shown_element(out, n - 1); };
    rung.check = [&, n] { return chapter_14::same_on_device(out, expected, n, "out"); };
    rung.bytes = d_x.bytes() + out.bytes();
    return rung;
  };
  answer_rungs(ladder, rungs, n, row,
               [&](const ScanAnswer& answer) { answer(d_x.data(), n, out.data()); });
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_scan(d_x.data(), n, out.data())));
#endif
}

/// All groups of the task.
inline void scan_groups(course::Ladder& ladder, const std::vector<Rung<ScanAnswer>>& rungs) {
  constexpr std::size_t kOne = 1;
  for (const std::size_t n : ladder.sizes({kOne << 20, kOne << 24, kOne << 28})) {
    scan_group(ladder, rungs, n);
  }
}
