// Check of the exercise argmax_first: rows of every length and start, ties at every distance, both zeros, infinities, and
// NaNs of both signs.
#include "argmax_first.cuh"

#include <cuda_fp16.h>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "checks/row_cases.cuh"

namespace argmax_first_check {

using E = row_checks::Element;
using row_checks::Kind;
using row_checks::kInfinity;
using row_checks::kNan;
using row_checks::Launch;
using row_checks::Shape;

// ---- rows --------------------------------------------------------------------------------------

/// Different for each of 2039 neighbouring columns.
float distinct(std::size_t r, std::size_t c) {
  return static_cast<float>((c * 1021 + r * 37) % 2039);
}

const Kind kDistinct{"no two alike, of both signs",
                     [](E e) { return distinct(e.row, e.column) - 1000; }};
const Kind kBelowZero{"all below zero", [](E e) { return -1 - distinct(e.row, e.column); }};
const Kind kTies{"the largest one is there several times",
                 [](E e) { return e.random % 8 == 0 ? 7.0f : static_cast<float>(e.random % 7); }};
const Kind kNanAmong{
    "some are NaN, of both signs",
    [](E e) { return e.random % 5 < 2 ? course::any_nan(e.column) : distinct(e.row, e.column); }};
const Kind kFractions{"multiples of 1 / 1024 between 1 and 2",
                      [](E e) { return 1 + static_cast<float>(e.random) / 1024; }};
const Kind kKinds[] = {
    kDistinct,
    kBelowZero,
    kTies,
    kNanAmong,
    kFractions,
    {"all are equal", [](E e) { return static_cast<float>(e.row) - 2; }},
    {"it grows from column to column", [](E e) { return static_cast<float>(e.column) - 600; }},
    {"it falls from column to column", [](E e) { return 300 - static_cast<float>(e.column); }},
    {"all are -infinity", [](E) { return -kInfinity; }},
    {"one in eight is -65504, the others are -infinity",
     [](E e) { return e.random % 8 == 0 ? -65504.0f : -kInfinity; }},
    {"all are NaN", [](E e) { return course::any_nan(e.row + e.column); }},
    {"infinities of both signs", [](E e) { return e.random % 4 == 0 ? kInfinity : -kInfinity; }},
    {"+0 and -0", [](E e) { return e.random % 3 == 0 ? 0.0f : -0.0f; }},
    {"-0, +0 and -1",
     [](E e) { return e.column % 7 < 3    ? -1.0f
                      : e.random % 3 == 0 ? 0.0f
                                          : -0.0f; }},
    {"subnormal halves", [](E e) { return std::ldexp(static_cast<float>(e.random) - 700, -24); }},
};

// ---- the right answer --------------------------------------------------------------------------

std::vector<unsigned> expected_of(const Shape& s, const std::vector<__half>& x) {
  std::vector<unsigned> where;
  for (std::size_t r = 0; r < s.rows; ++r) {
    std::size_t best = 0;
    for (std::size_t c = 1; c < s.columns; ++c) {
      const float value = __half2float(x[r * s.columns + c]);
      const float largest = __half2float(x[r * s.columns + best]);
      if (value > largest || (std::isnan(value) && !std::isnan(largest))) best = c;
    }
    where.push_back(static_cast<unsigned>(best));
  }
  return where;
}

void check_rows(const Shape& s, Launch launch, const std::string& text,
                const std::vector<__half>& x) {
  INFO(row_checks::text_of(s, text, "argmax_first", launch));
  const course::Placed<__half> d_x(x, s.start);
  course::GuardedBuffer<unsigned> where(s.rows);
  course::launch(argmax_first, {launch.grid, launch.block}, d_x.data(), s.rows, s.columns,
                 where.data());
  const std::vector<unsigned> expected = expected_of(s, x);
  const std::vector<unsigned> found = where.download();
  REQUIRE(course::same(found, expected, "where", [&](std::size_t r) {
    const auto in_column = [&](unsigned column) {
      return row_checks::with_bits(x[r * s.columns + column]) + " in column " +
             std::to_string(column);
    };
    return row_checks::row_text(s, r) + " and has " + in_column(expected[r]) +
           (found[r] < s.columns ? ", and " + in_column(found[r]) : "");
  }));
  REQUIRE(where.intact("where"));
}

void check_rows(const Shape& s, Launch launch, const Kind& kind) {
  argmax_first_check::check_rows(s, launch, kind.text, row_checks::elements_of<__half>(s, kind));
}

// Promise: where[r] is the column of the largest element of row r.
// Promise: any number of columns, x aligned to 2 bytes, and any grid of blocks of whole warps, with fewer warps than
// rows, or more.
// Promise: launches give no dynamic shared memory (OUT OF BOUNDS in every test case).
TEST_CASE("argmax_first: rows of every length") {
  row_checks::check_all_lengths(check_rows, kDistinct, kKinds);
}

// Promise: blocks have any number of warps from 1 to 32.
TEST_CASE("argmax_first: blocks of every number of warps") {
  row_checks::check_all_blocks(check_rows, row_checks::kAscending);
  row_checks::check_all_blocks(check_rows, kDistinct);
}

// Promise: the kernel is right for every kind of elements: -0 equals +0, and NaN is larger than any number, whatever its
// sign.
TEST_CASE("argmax_first: every kind of elements, blocks of many sizes") {
  for (const Launch launch : {Launch{1, 32}, Launch{3, 160}, Launch{2, 1024}}) {
    for (const Kind& kind : kKinds)
      argmax_first_check::check_rows(row_checks::rows_for(launch), launch, kind);
  }
  for (const Kind& kind : kKinds) argmax_first_check::check_rows({9, 20, 3}, {2, 64}, kind);
}

// Promise: the largest element is found in whichever column it is.
TEST_CASE("argmax_first: the largest one in every column") {
  constexpr std::size_t kColumns = 140;
  const Shape s{kColumns, kColumns, 0};
  std::vector<__half> x(kColumns * kColumns, __half(-5.0f));
  for (std::size_t r = 0; r < kColumns; ++r) x[r * kColumns + r] = __half(-4.996f);
  for (const unsigned block : {32u, 128u}) {
    argmax_first_check::check_rows(
        s, {6, block}, "all are -5, but column r of row r, which is the next larger half", x);
  }
}

// Promise: if several elements are the largest, where[r] is the smallest of their columns, and of several NaNs it is the
// smallest of theirs.
TEST_CASE("argmax_first: of two equal ones the first wins, whichever threads meet them") {
  // The second may be a round later in the same lane, in a lane or a warp before, or in a later one.
  constexpr std::size_t kRows = 12, kColumns = 300;
  const Shape s{kRows, kColumns, 1};
  for (const std::size_t distance : {1u, 2u, 31u, 32u, 33u, 63u, 64u, 65u, 95u, 96u, 97u, 127u}) {
    for (const float value : {2.0f, kNan}) {
      std::vector<__half> x = row_checks::elements_of<__half>(s, kBelowZero);
      for (std::size_t r = 0; r < kRows; ++r) {
        const std::size_t column = (r * 17 + distance) % (kColumns - distance);
        x[r * kColumns + column] = __half(value);
        x[r * kColumns + column + distance] = __half(r % 2 == 0 ? value : -value);
        if (r % 2 != 0 && !std::isnan(value)) x[r * kColumns + column + distance] = __half(value);
      }
      argmax_first_check::check_rows(s, {4, distance % 2 == 0 ? 96u : 32u},
                                     course::number_text(value) +
                                         " is there twice, in columns that are " +
                                         std::to_string(distance) + " apart",
                                     x);
    }
  }
}

// Promise: if several elements are the largest, where[r] is the smallest of their columns: the last element is after all.
TEST_CASE("argmax_first: the last element equals one in every column") {
  constexpr std::size_t kColumns = 161;  // of odd length: every other row begins between two pairs
  const Shape s{kColumns - 1, kColumns, 1};
  std::vector<__half> x = row_checks::elements_of<__half>(s, kBelowZero);
  for (std::size_t r = 0; r < s.rows; ++r) {
    x[r * kColumns + r] = x[r * kColumns + kColumns - 1] = __half(2.0f);
  }
  argmax_first_check::check_rows(s, {6, 64},
                                 "below zero, but column r of row r and the last one are 2", x);
}

// Promise: the smallest of the columns, also where it is met last: the threads may divide a row into any parts.
TEST_CASE(
    "argmax_first: two equal ones where one part of a long row ends and the next one begins") {
  if (course::kCpuDevice && course::has_run_before()) return;
  constexpr std::size_t kRows = 16, kColumns = 4800;
  const Shape s{kRows, kColumns, 3};
  for (const float value : {2.0f, kNan}) {
    std::vector<__half> x = row_checks::elements_of<__half>(s, kBelowZero);
    for (std::size_t r = 1; r < kRows; ++r) {
      const std::size_t part = kColumns * r / kRows;
      x[r * kColumns + part - 40] = x[r * kColumns + part + 10] = __half(value);
    }
    for (const unsigned block : {64u, 256u}) {
      argmax_first_check::check_rows(
          s, {4, block},
          course::number_text(value) + " is there twice in each row but row 0, 50 columns apart",
          x);
    }
  }
}

// Promise: NaN is larger than any number: than infinity in a column before, too.
TEST_CASE("argmax_first: infinity first, and a NaN in every column") {
  if (course::kCpuDevice && course::has_run_before()) return;
  constexpr std::size_t kColumns = 300;
  const Shape s{kColumns, kColumns, 0};
  std::vector<__half> x = row_checks::elements_of<__half>(s, kBelowZero);
  for (std::size_t r = 0; r < kColumns; ++r) {
    x[r * kColumns + r % 7] = __half(kInfinity);
    x[r * kColumns + r] = __half(kNan);
  }
  argmax_first_check::check_rows(
      s, {6, 64},
      "below zero, but infinity in one of the first columns and NaN in column r of row r", x);
}

// Promise: NaN is larger than any number, whatever its other bits.
TEST_CASE("argmax_first: NaNs of all bits") {
  constexpr std::size_t kColumns = 50;
  const unsigned short kBits[] = {0x7C01, 0x7E00, 0x7FFF, 0xFC01, 0xFE00, 0xFFFF};
  const Shape s{std::size(kBits), kColumns, 0};
  std::vector<__half> x(s.rows * kColumns, __half(kInfinity));
  for (std::size_t r = 0; r < s.rows; ++r) {
    for (const std::size_t column : {r * 7 + 3, std::size_t{45}}) {
      // Each row has another NaN later on, which may have the larger bits.
      const unsigned short bits = kBits[(r + (column == 45 ? 2 : 0)) % std::size(kBits)];
      std::memcpy(static_cast<void*>(&x[r * kColumns + column]), &bits, sizeof bits);
    }
  }
  for (const unsigned block : {32u, 64u}) {
    argmax_first_check::check_rows(s, {2, block}, "infinity, and two NaNs of different bits", x);
  }
}

// Promise: a launch may have fewer warps than rows.
TEST_CASE("argmax_first: a warp has several rows, each far from the one before") {
  row_checks::check_several_each(check_rows);
}

// Promise: a column may need more than 16 bits.
// Promise: the smallest of the columns, also where a later one is nearer to the beginning of its part.
TEST_CASE("argmax_first: long rows") {
  if (course::kCpuDevice && course::has_run_before()) return;
  const auto& [shape, launch] = row_checks::kLongRow;
  const Shape s{2, shape.columns, shape.start};
  std::vector<__half> x = row_checks::elements_of<__half>(s, kBelowZero);
  x[70'001] = x[99'998] = __half(3.0f);
  for (std::size_t c = 40'003; c < s.columns; c += 97) x[s.columns + c] = __half(3.0f);
  argmax_first_check::check_rows(s, launch,
                                 "below zero, but 3 in columns 70001 and 99998 of row 0, and in "
                                 "each 97th one from 40003 on of row 1",
                                 x);
  row_checks::check_long_rows(check_rows);
}

// Promise: a column may need more than the 21 bits that 16 bits of a lane's own can tell.
TEST_CASE("argmax_first: a row of more than 2^21 columns") {
  if (course::kCpuDevice && course::has_run_before()) return;
  const Shape shape{1, (std::size_t{1} << 21) + 70, 1};
  std::vector<__half> x(shape.columns, __half(-2.375f));
  x[shape.columns - 3] = x[shape.columns - 2] = __half(2.0f);
  argmax_first_check::check_rows(shape, {1, 256},
                                 "2 in two of the last three columns, the others are -2.375", x);
}

// Promise: a column may need more than the 24 bits that a float keeps (GPU only).
TEST_CASE("argmax_first: a row of more than 2^25 columns") {
  constexpr std::size_t kColumns = (std::size_t{1} << 25) + 3, kWhere = kColumns - 2;
  // One warp may have the row: a longer one takes it many seconds.
  course::skip_without_memory(kColumns * sizeof(__half));
  course::DeviceBuffer<__half> d_x(kColumns);
  d_x.fill_bytes(0xC0);  // -2.375
  const std::vector<__half> two(2, __half(2.0f));
  CUDA_CHECK(
      cudaMemcpy(d_x.data() + kWhere, two.data(), 2 * sizeof(__half), cudaMemcpyHostToDevice));
  course::GuardedBuffer<unsigned> where(1);
  INFO("1 row of 2^25 + 3 columns: 2 in the last two of them; argmax_first<<<1, 1024>>>");
  course::launch(argmax_first, {1, 1024}, d_x.data(), std::size_t{1}, kColumns, where.data());
  REQUIRE(course::same(where.download().front(), static_cast<unsigned>(kWhere), "where"));
}

// Promise: there may be no rows.
TEST_CASE("argmax_first: no rows") { check_rows({0, 10, 0}, {2, 64}, "no elements", {}); }

// Promise: rows * columns may be more than 2^32, and so may the threads and the warps of a grid (the CPU device runs the
// last two blocks of a grid that has a warp for each row).
TEST_CASE("argmax_first: the last rows of huge grids") {
  row_checks::at_last_rows<__half>(kDistinct, [](const row_checks::LastRows<__half>& last) {
    course::GuardedBuffer<unsigned> where(last.shape.rows);
    course::launch(argmax_first, {last.grid.grid, last.grid.block}, last.d_x, last.rows,
                   last.shape.columns, where.data() - last.before);
    REQUIRE(
        course::same(where.download(), expected_of(last.shape, last.x), "where of the last rows"));
  });
}

// Promise: where[r] is right in every order of the lanes.
TEST_CASE("argmax_first: the lanes of a warp go in step") {
  course::count([] { argmax_first_check::check_rows({5, 150, 1}, {2, 96}, kTies); });
}

// Promise: every element is loaded once, and neighbouring lanes load neighbours: a load fills its sectors of 32 bytes.
// Promise: threads share the rows.
TEST_CASE("argmax_first: every element is loaded once, by threads that share the rows") {
  course::skip_without_counters();
  const row_checks::Loads<__half> loads{"argmax_first", check_rows, kTies};
  loads.check_kinds(kKinds);
  loads.check_uneven();
  loads.check_longer();
  loads.check_shared();
}

}  // namespace argmax_first_check
