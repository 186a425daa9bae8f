// The profile that the exercise read_profile asks to read. `measure.py render` writes the rows from
// results/, and the same ones into the page.
#pragma once

#include <cstddef>

/// A kernel that sums 2^24 floats: its time, and what ncu counted.
struct ProfileRow {
  char label;
  double microseconds, instructions, reductions, dram_percent;
};

// clang-format off
constexpr ProfileRow kRows[] = {
    // rows: A = sum_grid_stride, B = sum_shuffle_down, C = sum_loads_in_flight, D = sum_two_warp_reduces
    {'A', 39.4, 5238144, 1056, 46.37},
    {'B', 923.6, 16777216, 524288, 1.56},
    {'C', 24.4, 4689920, 1024, 76.98},
    {'D', 119.3, 20316160, 65536, 12.18},
    // rows end
};
// clang-format on

constexpr const ProfileRow& row_of(char label) {
  return kRows[static_cast<std::size_t>(label - 'A')];
}

constexpr double nanoseconds_per_reduction(const ProfileRow& row) {
  return 1000 * row.microseconds / row.reductions;
}

/// In B and D nearly all of the time is atomics: both show the time of one. That is why the
/// exercise can ask for it.
constexpr double kLeastPerAtomic = nanoseconds_per_reduction(row_of('B'));
constexpr double kMostPerAtomic = nanoseconds_per_reduction(row_of('D'));
static_assert(kLeastPerAtomic <= kMostPerAtomic && kMostPerAtomic < 1.1 * kLeastPerAtomic);
