// Check of the exercise top_k: rows of every length and start, the largest elements in neighbouring columns and all in one
// thread's, ties, NaN, infinities, and rows with fewer than eight columns.
#include "top_k.cuh"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "checks/row_cases.cuh"

namespace top_k_check {

using E = row_checks::Element;
using row_checks::Kind;
using row_checks::kInfinity;
using row_checks::kNan;
using row_checks::Launch;
using row_checks::Shape;

constexpr std::size_t kTop = 8;

// ---- rows --------------------------------------------------------------------------------------

/// Different for each of 4093 neighbouring columns.
float distinct(std::size_t r, std::size_t c) {
  return static_cast<float>((c * 1021 + r * 37) % 4093);
}

const Kind kDistinct{"no two alike, of both signs",
                     [](E e) { return distinct(e.row, e.column) - 2000.5f; }};
const Kind kBelowZero{"all below zero", [](E e) { return -1 - distinct(e.row, e.column); }};
const Kind kTies{"the largest ones are there several times",
                 [](E e) { return e.random % 16 == 0 ? 7.0f : static_cast<float>(e.random % 7); }};
const Kind kKinds[] = {
    kDistinct,
    kBelowZero,
    kTies,
    {"all are equal", [](E e) { return static_cast<float>(e.row) - 2; }},
    {"it grows from column to column", [](E e) { return static_cast<float>(e.column) / 16 - 30; }},
    {"it falls from column to column", [](E e) { return 30 - static_cast<float>(e.column) / 16; }},
    {"some are NaN, of both signs",
     [](E e) { return e.random % 40 < 2 ? course::any_nan(e.column) : distinct(e.row, e.column); }},
    {"all are NaN", [](E e) { return course::any_nan(e.row + e.column); }},
    {"all are -infinity", [](E) { return -kInfinity; }},
    {"all are -infinity, but one in 50",
     [](E e) { return e.random % 50 == 0 ? -0x1.fffffep127f : -kInfinity; }},
    {"infinities of both signs", [](E e) { return e.random % 30 == 0 ? kInfinity : -kInfinity; }},
    {"+0, -0 and -1",
     [](E e) { return e.column % 7 < 3    ? -1.0f
                      : e.random % 3 == 0 ? 0.0f
                                          : -0.0f; }},
    {"floats that are next to each other",
     [](E e) { return 1 + static_cast<float>(e.random) * 0x1p-23f; }},
};

// ---- the right answer --------------------------------------------------------------------------

struct Answer {
  std::vector<double> values;
  std::vector<int> indices;
};

Answer expected_of(const Shape& s, const std::vector<float>& x) {
  Answer answer;
  for (std::size_t r = 0; r < s.rows; ++r) {
    const float* const row = x.data() + r * s.columns;
    std::vector<int> order(s.columns);
    std::iota(order.begin(), order.end(), 0);
    const std::size_t there = std::min(kTop, s.columns);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(there),
                      order.end(), [&](int a, int b) {
                        if (std::isnan(row[a]) != std::isnan(row[b])) return std::isnan(row[a]);
                        if (!std::isnan(row[a]) && row[a] != row[b]) return row[a] > row[b];
                        return a < b;
                      });
    for (std::size_t k = 0; k < kTop; ++k) {
      answer.indices.push_back(k < there ? order[k] : -1);
      answer.values.push_back(static_cast<double>(k < there ? row[order[k]] : -kInfinity));
    }
  }
  return answer;
}

void check_answer(const Shape& s, const std::vector<float>& x, const std::vector<float>& values,
                  const std::vector<int>& indices) {
  const Answer expected = expected_of(s, x);
  REQUIRE(course::same(indices, expected.indices, "indices", [&](std::size_t i) {
    const std::size_t row = i / kTop;
    const std::string number =
        "number " + std::to_string(i % kTop) + " of row " + std::to_string(row);
    if (expected.indices[i] < 0)
      return number + ", which has " + course::counted(s.columns, "column");
    const auto element = [&](int column) {
      const std::size_t at = row * s.columns + static_cast<std::size_t>(column);
      return "x[" + std::to_string(at) + "] = " + row_checks::with_bits(x[at]);
    };
    const std::string is = number + ", which is " + element(expected.indices[i]);
    const bool is_of_row = indices[i] >= 0 && static_cast<std::size_t>(indices[i]) < s.columns;
    return is_of_row ? is + "; column " + std::to_string(indices[i]) + " has " + element(indices[i])
                     : is;
  }));
  REQUIRE(row_checks::near(values, expected.values, std::vector<double>(values.size(), 0), "values",
                           row_checks::row_of(s, x, kTop)));
}

void check_rows(const Shape& s, Launch launch, const std::string& text,
                const std::vector<float>& x) {
  INFO(row_checks::text_of(s, text, "top_k", launch));
  const course::Placed<float> d_x(x, s.start);
  // The results of a row never begin both where four of them could be one store.
  const bool values_first = s.columns % 2 == 0;
  course::Placed<float> values(std::vector<float>(s.rows * kTop, -12'345.0f), values_first ? 0 : 1);
  course::Placed<int> indices(std::vector<int>(s.rows * kTop, -7), values_first ? 3 : 0);
  course::launch(top_k, {launch.grid, launch.block}, d_x.data(), s.rows, s.columns, values.data(),
                 indices.data());
  check_answer(s, x, values.download(), indices.download());
  REQUIRE(values.intact("values"));
  REQUIRE(indices.intact("indices"));
}

void check_rows(const Shape& s, Launch launch, const Kind& kind) {
  check_rows(s, launch, kind.text, row_checks::elements_of<float>(s, kind));
}

/// Lists of a block of 1024 threads are much work for the CPU device: they are merged under the first schedule alone.
bool is_slow_again() { return course::kCpuDevice && course::has_run_before(); }

// Promise: the eight largest elements of each row and their columns, the largest first.
// Promise: any number of columns, x, values and indices aligned to 4 bytes, and any grid of blocks of whole warps, with
// fewer warps than rows, or more.
// Promise: launches give no dynamic shared memory (OUT OF BOUNDS in every test case).
TEST_CASE("top_k: rows of every length") {
  const row_checks::CheckRows check = [](const Shape& s, Launch launch, const Kind& kind) {
    if (launch.block < 1024 || !is_slow_again()) check_rows(s, launch, kind);
  };
  row_checks::check_all_lengths(check, kDistinct, kKinds);
}

// Promise: blocks have any number of warps from 1 to 32.
TEST_CASE("top_k: blocks of every number of warps") {
  row_checks::check_all_blocks(check_rows, row_checks::kAscending);
  row_checks::check_all_blocks(check_rows, kDistinct);
}

// Promise: the kernel is right for every kind of elements: -0 equals +0, and NaN is larger than any number.
TEST_CASE("top_k: every kind of elements, blocks of many sizes") {
  const bool is_again = is_slow_again();
  for (const Launch launch : {Launch{1, 32}, Launch{3, 160}, Launch{2, 1024}}) {
    if (launch.block == 1024 && is_again) continue;
    for (const Kind& kind : kKinds) check_rows(row_checks::rows_for(launch), launch, kind);
  }
}

// Promise: the eight largest elements may be in any columns, also in those of a single thread.
TEST_CASE("top_k: the nine largest elements in columns that are equally far apart") {
  constexpr std::size_t kColumns = 2300;
  for (const std::size_t apart : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 96u, 128u, 256u}) {
    const Shape s{3, kColumns, 0};
    std::vector<float> x(s.rows * kColumns, -9.5f);
    for (std::size_t k = 0; k < 9; ++k) {
      x[17 + k * apart] = static_cast<float>(k);  // each is larger than those before it
      x[kColumns + 3 + k * apart] = 8 - static_cast<float>(k);  // smaller
      x[2 * kColumns + 5 + k * apart] = course::any_nan(k);
    }
    for (const unsigned block : {64u, 256u}) {
      check_rows(s, {2, block},
                 "0 to 8, 8 to 0, and nine NaNs, in columns that are " + std::to_string(apart) +
                     " apart; the others are -9.5",
                 x);
    }
  }
}

// Promise: of equal elements the one with the smaller column comes first, and so does it of NaNs.
TEST_CASE("top_k: ten equal elements and two larger ones, whichever threads meet them") {
  constexpr std::size_t kRows = 6, kColumns = 700;
  const Shape s{kRows, kColumns, 1};
  for (const std::size_t apart : {1u, 31u, 32u, 33u, 47u, 63u, 64u, 65u}) {
    for (const float value : {2.0f, kNan}) {
      std::vector<float> x = row_checks::elements_of<float>(s, kBelowZero);
      for (std::size_t r = 0; r < kRows; ++r) {
        float* const row = x.data() + r * kColumns;
        for (std::size_t k = 0; k < 10; ++k) row[r * 9 + k * apart] = k % 2 == 0 ? value : 2.0f;
        row[r * 9 + 4 * apart + 1 - r % 2] = row[r * 9 + 7 * apart] = 3.0f;
      }
      check_rows(s, {2, apart % 2 == 0 ? 96u : 32u},
                 course::number_text(value) + ", 2 and 3 in columns that are " +
                     std::to_string(apart) + " apart",
                 x);
    }
  }
}

// Promise: of equal elements the one with the smaller column comes first, in long rows, too.
TEST_CASE("top_k: many equal elements in long rows") {
  if (is_slow_again()) return;
  const Kind of_one_lane{"2 in every 32nd column, -1 in the others",
                         [](E e) { return e.column % 32 == 17 ? 2.0f : -1.0f; }};
  for (const unsigned block : {64u, 256u}) {
    for (const Kind& kind : {kTies, of_one_lane}) check_rows({3, 4608, 0}, {2, block}, kind);
  }
}

// Promise: of equal elements the one with the smaller column comes first, whichever threads are ahead of the others.
TEST_CASE(
    "top_k: nine equal elements in a long row, the first of them 32 or 40 columns before the others") {
  if (course::kCpuDevice && course::has_run_before()) return;
  const Shape s{3, 4700, 0};
  for (const unsigned apart : {1u, 32u, 64u, 128u, 256u}) {
    const std::size_t before = apart == 1 ? 32 : 40;  // of the warp before, in the same step
    std::vector<float> x = row_checks::elements_of<float>(s, kBelowZero);
    for (std::size_t r = 0; r < s.rows; ++r) {
      float* const row = x.data() + r * s.columns;
      const std::size_t first = 2500 + 33 * r;
      row[first - before] = 3.0f;
      for (std::size_t k = 0; k < 8; ++k) row[first + k * apart] = 3.0f;
    }
    for (const std::uint64_t seed : {0u, 2u}) {  // under schedule 2 the last threads are ahead
      for (const unsigned block : {64u, 128u, 256u}) {
        course::with_seed(seed, [&] {
          check_rows(s, {3, block},
                     "3 in eight columns that are " + std::to_string(apart) + " apart, and " +
                         std::to_string(before) + " columns before them; the others are below 0",
                     x);
        });
      }
    }
  }
}

// Promise: the eight largest elements of a row, whatever was the largest before: few new ones in some columns, then many.
TEST_CASE("top_k: a few larger elements in each 32 or 128 columns, then 32 or 128 larger ones") {
  const bool is_again = is_slow_again();
  for (const std::size_t step : {32u, 128u}) {
    if (step == 128 && is_again) continue;
    const Shape s{63, step * 11, 0};
    std::vector<float> x(s.rows * s.columns, -1.0f);
    for (std::size_t r = 0; r < s.rows; ++r) {
      const std::size_t steps = 1 + r % 9, new_ones = 1 + r / 9 * step / 32;
      for (std::size_t c = 0; c < step * (steps + 1); ++c) {
        if (c % step < new_ones || c / step == steps) x[r * s.columns + c] = static_cast<float>(c);
      }
    }
    const std::string text = std::to_string(step);
    for (const unsigned block : {32u, 128u}) {
      check_rows(s, {4, block},
                 "in row r the first columns of each of the first 1 + r % 9 times " + text +
                     " have their own number, and so have all of the next " + text +
                     "; the others are -1",
                 x);
    }
  }
}

// Promise: NaN is larger than any number, whatever its sign and its other bits.
TEST_CASE("top_k: NaNs of all bits") {
  const unsigned kBits[] = {0x7F80'0001, 0x7FC0'0000, 0x7FFF'FFFF,
                            0xFF80'0001, 0xFFC0'0000, 0xFFFF'FFFF};
  const Shape s{3, 60, 0};
  std::vector<float> x(s.rows * s.columns, kInfinity);
  for (std::size_t r = 0; r < s.rows; ++r) {
    for (std::size_t k = 0; k < 6; ++k) {
      const unsigned bits = kBits[(k * 5 + r) % std::size(kBits)];
      std::memcpy(&x[r * s.columns + 4 + k * (r + 8)], &bits, sizeof bits);
    }
  }
  check_rows(s, {2, 64}, "infinity, and six NaNs of different bits", x);
}

// Promise: if a row has fewer than 8 columns, the last ones are -infinity, with column -1, and -infinity comes before these.
// Promise: a row may have no columns, and there may be no rows.
TEST_CASE("top_k: rows of 0 to 9 columns, and no rows") {
  for (std::size_t columns = 0; columns < 10; ++columns) {
    for (const Kind& kind : kKinds) check_rows({3, columns, columns % 4}, {2, 64}, kind);
  }
  check_rows({0, 10, 0}, {2, 64}, "no elements", {});
}

// Promise: a launch may have fewer warps than rows.
TEST_CASE("top_k: a warp has several rows, each far from the one before") {
  row_checks::check_several_each(check_rows);
}

// Promise: a column may need more than 16 bits.
// Promise: of equal elements the one with the smaller column comes first, also where a later one is nearer to the
// beginning of its part.
TEST_CASE("top_k: long rows") {
  if (course::kCpuDevice && course::has_run_before()) return;
  const auto& [shape, launch] = row_checks::kLongRow;
  const Shape s{2, shape.columns, shape.start};
  std::vector<float> x = row_checks::elements_of<float>(s, kBelowZero);
  x[70'001] = x[99'998] = x[65'535] = 3.0f;
  for (std::size_t c = 40'003; c < s.columns; c += 97) x[s.columns + c] = 3.0f;
  check_rows(
      s, launch,
      "below zero, but 3 in columns 65535, 70001 and 99998 of row 0, and in each 97th one from "
      "40003 on of row 1",
      x);
  row_checks::check_long_rows(check_rows);
}

// Promise: a column may need more than the 24 bits that a float keeps (GPU only).
TEST_CASE("top_k: a row of more than 2^25 columns") {
  constexpr std::size_t kColumns = (std::size_t{1} << 25) + 3;
  // One warp may have the row: a longer one takes it many seconds.
  course::skip_without_memory(kColumns * sizeof(float));
  course::DeviceBuffer<float> d_x(kColumns);
  d_x.fill_bytes(0xC0);  // -6.02
  const std::vector<float> last = {1, 2, 3, 4, 5, 6, 7, 8, 8};
  const auto first = static_cast<int>(kColumns - last.size());
  CUDA_CHECK(cudaMemcpy(d_x.data() + first, last.data(), last.size() * sizeof(float),
                        cudaMemcpyHostToDevice));
  course::GuardedBuffer<float> values(kTop);
  course::GuardedBuffer<int> indices(kTop);
  INFO("1 row of 2^25 + 3 columns: 1, 2, ... 8 and 8 in the last nine of them; top_k<<<1, 1024>>>");
  course::launch(top_k, {1, 1024}, d_x.data(), std::size_t{1}, kColumns, values.data(),
                 indices.data());
  const std::vector<int> order = {7, 8, 6, 5, 4, 3, 2, 1};
  std::vector<int> expected;
  for (const int k : order) expected.push_back(first + k);
  REQUIRE(course::same(indices.download(), expected, "indices"));
  REQUIRE(course::same(values.download(), std::vector<float>{8, 8, 7, 6, 5, 4, 3, 2}, "values"));
}

// Promise: rows * columns may be more than 2^32, and so may the threads and the warps of a grid (the CPU device runs the
// last two blocks of a grid that has a warp for each row).
TEST_CASE("top_k: the last rows of huge grids") {
  row_checks::at_last_rows<float>(
      kDistinct,
      [](const row_checks::LastRows<float>& last) {
        course::GuardedBuffer<float> values(last.shape.rows * kTop);
        course::GuardedBuffer<int> indices(last.shape.rows * kTop);
        course::launch(top_k, {last.grid.grid, last.grid.block}, last.d_x, last.rows,
                       last.shape.columns, values.data() - last.before * kTop,
                       indices.data() - last.before * kTop);
        check_answer(last.shape, last.x, values.download(), indices.download());
      },
      {(1u << 29) + 1, 32});
}

// Promise: the results are right in every order of the lanes.
TEST_CASE("top_k: the lanes of a warp go in step") {
  course::count([] { check_rows({5, 150, 1}, {2, 96}, kTies); });
}

// Promise: every element is loaded once, the results perhaps twice.
TEST_CASE("top_k: every element is loaded once, whatever the elements are") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  const row_checks::Loads<float> loads{"top_k", check_rows, kTies, 1, kTop};
  loads.check_kinds(kKinds, {{16, 68}, {1, 128}});  // a warp has four rows
}

// Promise: every element is loaded once, in rows of awkward lengths.
TEST_CASE("top_k: every element is loaded once, wherever rows begin") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  row_checks::Loads<float>{"top_k", check_rows, kTies, 1, kTop}.check_uneven();
}

// Promise: threads share the rows, and every element is loaded once; the lanes of a warp load neighbours.
TEST_CASE("top_k: every element is loaded once, by threads that share the rows") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  const Launch launch{4, 128};
  const Shape shape{64, 1536, 0};
  const std::size_t elements = shape.rows * shape.columns;
  // A warp has 1 / 16 of the elements. It may also write all results of its block's 16 rows, one by one.
  const std::size_t most = 2 * (elements / 32 / 16) + 64 + 16 * 2 * kTop;
  auto counters = course::count([&] { check_rows(shape, launch, kTies); });
  if (!course::work_is_shared(*counters,
                              most)) {  // warps may take rows by ticket: not in order, then
    counters = course::count_shuffled([&] { check_rows(shape, launch, kTies); });
  }
  INFO(row_checks::text_of(shape, kTies.text, "top_k", launch));
  REQUIRE(row_checks::reads_at_most<float>(*counters, elements, 1));
  REQUIRE(course::work_is_shared(*counters, most));
}

}  // namespace top_k_check
