// The task "ordered filter": a group of the ladder, with the data of chapter 09.
#pragma once

#include <algorithm>
#include <course/buffer.cuh>
#include <course/ladder.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "best_filter.cuh"
#include "tasks.cuh"
#include "vendor.cuh"

/// Runs the rungs, and the vendor's library, on n numbers, of which `percent` of 100 are kept.
inline void filter_group(course::Ladder& ladder, const std::vector<Rung<FilterAnswer>>& rungs,
                         std::size_t n, unsigned percent) {
  std::vector<int> x = chapter_09::filter_input(n, percent);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  const auto expected = course::DeviceBuffer<int>::from(chapter_09::filter_reference(x));
  x = {};  // of 2^28 numbers one copy is enough
  course::DeviceBuffer<int> out(std::max<std::size_t>(n, 1));
  course::DeviceBuffer<unsigned long long> count(1);
  const std::string kept = std::to_string(percent) + " % kept";
  ladder.reference("filter_reference", static_cast<double>(expected.size()),
                   "one CPU thread, std::copy_if; " + kept, n);
  const auto row = [&](course::Rung rung) {
    rung.changed += "; " + kept;
    rung.reset = [&] {
      count.fill_bytes(0xFF);
      out.fill_bytes(0xFF);
    };
    rung.result = [&] { return static_cast<double>(count.front()); };
    rung.check = [&] {
      const auto size = course::same(count.front(), expected.size(), "count");
      return size.ok ? chapter_09::kept_is_right(out, expected, true) : size;
    };
    rung.bytes = (n + expected.size()) * sizeof(int) + count.bytes();
    return rung;
  };
  answer_rungs(ladder, rungs, n, row, [&](const FilterAnswer& answer) {
    answer(d_x.data(), n, out.data(), count.data());
  });
#if !COURSE_CPU_DEVICE
  ladder.vendor(row(cub_filter(d_x.data(), n, out.data(), count.data())));
#endif
}

/// All groups of the task.
inline void filter_groups(course::Ladder& ladder, const std::vector<Rung<FilterAnswer>>& rungs) {
  constexpr std::size_t kOne = 1;
  for (const std::size_t n : ladder.sizes({kOne << 24, kOne << 28})) {
    for (const unsigned percent : {5u, 50u}) filter_group(ladder, rungs, n, percent);
  }
}
