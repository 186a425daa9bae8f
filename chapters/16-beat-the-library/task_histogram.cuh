// The task "histogram": its data, and a group of the ladder.
#pragma once

#include <course/buffer.cuh>
#include <course/ladder.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "tasks.cuh"
#include "vendor.cuh"

inline constexpr unsigned char kCommonByte = 'e';

/// n bytes in no order: `percent` of 100 are kCommonByte, the others are spread over all bins.
inline std::vector<unsigned char> histogram_input(std::size_t n, unsigned percent) {
  std::vector<unsigned char> bytes(n);
  for (std::size_t i = 0; i < n; ++i) {
    const bool is_common = stirred_below(i, 100) < percent;
    bytes[i] = is_common ? kCommonByte : static_cast<unsigned char>(stirred(i));
  }
  return bytes;
}

inline std::vector<unsigned> histogram_of(const std::vector<unsigned char>& bytes) {
  std::vector<unsigned> bins(256, 0);
  for (const unsigned char byte : bytes) ++bins[byte];
  return bins;
}

/// Runs the rungs, and the vendor's library, on n bytes, of which `percent` of 100 are equal.
inline void histogram_group(course::Ladder& ladder, const std::vector<Rung<HistogramAnswer>>& rungs,
                            std::size_t n, unsigned percent) {
  const std::vector<unsigned char> bytes = histogram_input(n, percent);
  const std::vector<unsigned> expected = histogram_of(bytes);
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
  course::DeviceBuffer<unsigned> bins(256);
  const std::string share = std::to_string(percent) + " % in one bin";
  ladder.reference("histogram_of", expected[kCommonByte], "one CPU thread; " + share, n);
  const auto row = [&](course::Rung rung) {
    rung.changed += "; " + share;
    rung.reset = [&] { bins.fill_bytes(0x5A); };
    rung.result = [&] { return static_cast<double>(bins.download()[kCommonByte]); };
    rung.check = [&] { return course::same(bins.download(), expected, "bins"); };
    rung.bytes = d_bytes.bytes() + bins.bytes();
    return rung;
  };
  answer_rungs(ladder, rungs, n, row,
               [&](const HistogramAnswer& answer) { answer(d_bytes.data(), n, bins.data()); });
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_histogram(d_bytes.data(), n, bins.data())));
#endif
}

/// All groups of the task.
inline void histogram_groups(course::Ladder& ladder,
                             const std::vector<Rung<HistogramAnswer>>& rungs) {
  constexpr std::size_t kOne = 1;
  for (const std::size_t n : ladder.sizes({kOne << 24, kOne << 28})) {
    for (const unsigned percent : {10u, 50u, 90u}) histogram_group(ladder, rungs, n, percent);
  }
}
