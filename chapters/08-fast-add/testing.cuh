// What the tests of this chapter share: numbers as bits, updates, rows, and their checks.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"

namespace fast_add_testing {

template <class T>
T number(double x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return static_cast<T>(static_cast<float>(x));
  }
}

/// What neighbours may hold: no addition of an identity may change any of it.
template <class T>
std::vector<T> neighbours() {
  std::vector<T> values = {number<T>(-0.0), number<T>(0.0), number<T>(HUGE_VAL),
                           number<T>(-HUGE_VAL), number<T>(1.5)};
  if constexpr (sizeof(T) == 2) {
    const std::uint16_t subnormal = 0x8001;
    T value;
    std::memcpy(static_cast<void*>(&value), &subnormal, sizeof value);
    values.push_back(value);
  }
  return values;
}

/// Ok if both tables have the same bits: +0.0 is not -0.0.
template <class T>
course::Verdict bits_agree(const std::vector<T>& found, const std::vector<T>& expected) {
  for (std::size_t t = 0; t < expected.size(); ++t) {
    if (bits_of(found[t]) == bits_of(expected[t])) continue;
    return {false, "table[" + std::to_string(t) + "]: expected " +
                       course::number_text(expected[t]) + ", found " +
                       course::number_text(found[t]) + ", not the same bits"};
  }
  return {};
}

// ---- single values ------------------------------------------------------------------------------

/// n values that are +1 or -1, and a table that holds small whole numbers before and after.
struct Scattered {
  Scattered(std::size_t n, std::size_t targets)
      : values(coin_flips<__half>(n)), index(random_index(n, targets)) {
    expected = scatter_reference(values, index, targets);
    for (std::size_t t = 0; t < targets; ++t) {
      first.push_back(static_cast<double>(t % 5));
      expected[t] += first[t];
    }
  }
  std::vector<__half> values;
  std::vector<int> index;
  std::vector<double> first, expected;
};

/// How many elements after a multiple of 64 bytes each array begins.
struct Offsets {
  std::size_t table = 0, values = 0, index = 0;
};

template <class Table>
void check_updates(const Scatter<Table>& launch, const Scattered& s, Offsets begin) {
  const course::Placed<__half> values(s.values, begin.values);
  const course::Placed<int> index(s.index, begin.index);
  course::Placed<Table> table(rounded<Table>(s.first), begin.table);
  launch(values.data(), index.data(), s.values.size(), table.data(), table.size(), nullptr);
  REQUIRE(course::same(table.download(), rounded<Table>(s.expected), "table"));
  REQUIRE(table.intact("table"));
}

inline void check_scatter(const ScatterRung& rung, std::size_t n, std::size_t targets,
                          Offsets begin = {}) {
  INFO(rung.name << ": n = " << n << " into " << targets << " targets; the table begins "
                 << begin.table << " elements after a multiple of 64 bytes, values " << begin.values
                 << ", index " << begin.index);
  Scattered s(n, targets);
  if (rung.sorted) sort_by_target(s.values, s.index);
  std::visit([&](const auto& launch) { check_updates(launch, s, begin); }, rung.launch);
}

// ---- rows ---------------------------------------------------------------------------------------

struct RowsShape {
  std::size_t rows, width, table_rows;
  std::size_t offset_source = 0, offset_table = 0;
};

template <class Table>
void check_added_rows(const AddRows<Table>& launch, const RowsShape& s,
                      const std::vector<int>& index) {
  const std::vector<__half> source = coin_flips<__half>(s.rows * s.width);
  std::vector<double> sums = rows_reference(source, index, s.width, s.table_rows);
  for (double& sum : sums) sum += 2;
  const course::Placed<__half> d_source(source, s.offset_source);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  course::Placed<Table> table(std::vector<Table>(sums.size(), static_cast<Table>(2.0f)),
                              s.offset_table);
  launch({d_source.data(), d_index.data(), s.rows, s.width}, table.data(), s.table_rows, nullptr);
  REQUIRE(course::same(table.download(), rounded<Table>(sums), "table"));
  REQUIRE(table.intact("table"));
}

/// Rows of +1 and -1; the table begins at 2.
inline void check_rows(const RowsRung& rung, const RowsShape& s, const std::vector<int>& index) {
  INFO(rung.name << ": " << s.rows << " rows of " << s.width << " into " << s.table_rows
                 << "; source begins " << s.offset_source << " and table " << s.offset_table
                 << " elements after a multiple of 64 bytes");
  std::visit([&](const auto& launch) { check_added_rows(launch, s, index); }, rung.launch);
}
inline void check_rows(const RowsRung& rung, const RowsShape& s) {
  check_rows(rung, s, random_index(s.rows, s.table_rows));
}

}  // namespace fast_add_testing
