// Rows for the check of beat_rows.
#pragma once

#include <cuda_fp16.h>

#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

namespace row_data {

struct Shape {
  std::size_t rows, width, table_rows;
  std::size_t source = 0, table = 0;  // halves after a multiple of 64 bytes
  std::size_t index = 0;              // ints after one
};

inline std::string text_of(const Shape& s, const std::string& data) {
  return course::counted(s.rows, "row") + " of " + course::counted(s.width, "half", "halves") +
         " into " + course::counted(s.table_rows, "row") + ": " + data + "; source begins " +
         std::to_string(2 * s.source) + ", table " + std::to_string(2 * s.table) + " and index " +
         std::to_string(4 * s.index) + " bytes after a multiple of 64";
}

/// Every row of the table gets some, but for those whose number leaves a remainder of 2.
inline std::vector<int> spread(const Shape& s) {
  const std::vector<int> random = course::position_values<int>(s.rows);
  std::vector<int> index(s.rows);
  for (std::size_t r = 0; r < s.rows; ++r) {
    const auto to = static_cast<std::size_t>(random[r]) * 7919 % s.table_rows;
    index[r] = static_cast<int>(to % 5 == 2 ? to - 1 : to);
  }
  return index;
}

/// Numbers from -2 to 2: every sum of fewer than 1000 of them is exact in half.
inline std::vector<__half> whole_numbers(std::size_t n) {
  std::vector<__half> values;
  for (const int random : course::position_values<int>(n)) {
    values.push_back(__half(static_cast<float>(random % 5 - 2)));
  }
  return values;
}

inline std::vector<float> floats(const std::vector<__half>& halves) {
  return {halves.begin(), halves.end()};
}

}  // namespace row_data
