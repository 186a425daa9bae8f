// Check of the exercise online_softmax: rows of every length and start, maxima in every order and of every size,
// infinities and NaN, and how often an element is read.
#include "online_softmax.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "checks/row_cases.cuh"

namespace online_softmax_check {

using E = row_checks::Element;
using row_checks::Kind;
using row_checks::kInfinity;
using row_checks::kNan;
using row_checks::Launch;
using row_checks::Shape;

// ---- rows --------------------------------------------------------------------------------------

float some(int random) { return static_cast<float>(random - 500) / 125; }

const Kind kSmall{"from -4 to 4, in no order", [](E e) { return some(e.random); }};
const Kind kMasked{"half of it is -infinity", [](E e) {
                     return e.random % 2 == 0 || e.column < 3 ? -kInfinity : some(e.random);
                   }};
const Kind kLarge{"10^30, 2 * 10^30 and -3 * 10^38", [](E e) {
                    return e.random % 5 == 0 ? 2e30f : e.random % 3 == 0 ? 1e30f : -3e38f;
                  }};
const Kind kLow{"about -1000", [](E e) { return some(e.random) - 1000; }};
const Kind kKinds[] = {
    kSmall,
    kMasked,
    {"10^6 + k / 16 with k from 0 to 31",
     [](E e) { return 1e6f + static_cast<float>(e.random % 32) / 16; }},
    kLarge,
    kLow,
    {"about 1000", [](E e) { return some(e.random) + 1000; }},
    {"it grows from column to column",
     [](E e) { return static_cast<float>(e.column) * 0.25f - 50; }},
    {"it falls from column to column",
     [](E e) { return static_cast<float>(e.column) * -0.25f + 100; }},
    {"all columns of a row are equal", [](E e) { return static_cast<float>(e.row) * 33 - 70; }},
    {"all are -2 * 10^30", [](E) { return -2e30f; }},
    {"one in eight is 200, the others are from -4 to 4",
     [](E e) { return e.random % 8 == 0 ? 200.0f : some(e.random); }},
    {"from -80 to 80", [](E e) { return some(e.random) * 20; }},
    {"-0, and one in 32 is below -100",
     [](E e) { return e.random % 32 == 0 ? some(e.random) - 105 : -0.0f; }},
    {"one in eight is the lowest float, the others are -infinity",
     [](E e) { return e.random % 8 == 0 ? -0x1.fffffep127f : -kInfinity; }},
    {"in every other row one in eight is NaN or infinity",
     [](E e) {
       const float rare = e.row % 4 == 1 ? kNan : kInfinity;
       return e.row % 2 == 1 && e.random % 8 == 0 ? rare : some(e.random);
     }},
};

// ---- softmax -----------------------------------------------------------------------------------

/// What an element of y is computed from, and the sum of its row of y: that of a softmax is 1.
course::Inputs row_and_sum(const Shape& s, const std::vector<float>& x,
                           const std::vector<float>& y) {
  return [&](std::size_t i) {
    const auto first = y.begin() + static_cast<std::ptrdiff_t>(i / s.columns * s.columns);
    const double sum = std::accumulate(first, first + static_cast<std::ptrdiff_t>(s.columns), 0.0);
    return row_checks::row_of(s, x, s.columns)(i) + "; the sum of y in this row is " +
           course::number_text(sum);
  };
}

/// Checks y against the softmax in double.
void check_softmax(const Shape& s, const std::vector<float>& x, const std::vector<float>& y) {
  std::vector<double> exact(x.size()), tolerance(x.size());
  for (std::size_t r = 0; r < s.rows; ++r) {
    const auto first = x.begin() + static_cast<std::ptrdiff_t>(r * s.columns);
    const auto end = first + static_cast<std::ptrdiff_t>(s.columns);
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    for (auto i = first; i != end; ++i) max = std::fmax(max, static_cast<double>(*i));
    for (auto i = first; i != end; ++i) sum += std::exp(static_cast<double>(*i) - max);
    for (auto i = first; i != end; ++i) {
      const auto at = static_cast<std::size_t>(i - x.begin());
      exact[at] = std::exp(static_cast<double>(*i) - max) / sum;  // NaN where the sum is
      tolerance[at] = (1e-4 + static_cast<double>(s.columns) * 0x1p-24) * exact[at] + 1e-12;
    }
  }
  REQUIRE(row_checks::near(y, exact, tolerance, "y", row_and_sum(s, x, y)));
}

void check_rows(const Shape& s, Launch launch, const std::string& text,
                const std::vector<float>& x) {
  INFO(row_checks::text_of(s, text, "online_softmax", launch) << "; y holds 7 before");
  const course::Placed<float> d_x(x, s.start);
  course::Placed<float> y(std::vector<float>(x.size(), 7.0f), (s.start * 3 + s.rows) % 16);
  course::launch(online_softmax, {launch.grid, launch.block}, d_x.data(), s.rows, s.columns,
                 y.data());
  check_softmax(s, x, y.download());
  REQUIRE(y.intact("y"));
}

void check_rows(const Shape& s, Launch launch, const Kind& kind) {
  check_rows(s, launch, kind.text, row_checks::elements_of<float>(s, kind));
}

// Promise: row r of y is the softmax of row r of x, each element within 10^-4 + columns * 2^-24 of its exact value,
// relatively, or within 10^-12.
// Promise: any number of columns, x and y aligned to 4 bytes, and any grid of blocks of whole warps, with fewer warps
// than rows, or more.
// Promise: launches give no dynamic shared memory (OUT OF BOUNDS in every test case).
TEST_CASE("online_softmax: rows of every length") {
  row_checks::check_all_lengths(check_rows, kSmall, kKinds);
}

// Promise: blocks have any number of warps from 1 to 32.
TEST_CASE("online_softmax: blocks of every number of warps") {
  row_checks::check_all_blocks(check_rows, kSmall);
}

// Promise: elements may be of any size, in every order, and -infinity becomes 0.
TEST_CASE("online_softmax: every kind of elements, blocks of many sizes") {
  for (const Launch launch : {Launch{1, 32}, Launch{3, 160}, Launch{2, 1024}}) {
    for (const Kind& kind : kKinds) check_rows(row_checks::rows_for(launch), launch, kind);
  }
}

// Promise: the maximum may be in any column.
TEST_CASE("online_softmax: one element of each row has almost all of the sum") {
  constexpr std::size_t kRows = 24, kColumns = 70;
  for (const float others : {-30.0f, -kInfinity}) {
    std::vector<float> x(kRows * kColumns, others);
    for (std::size_t r = 0; r < kRows; ++r) {
      x[r * kColumns + r * 3] = 5.0f;
      x[r * kColumns + (r * 29 + 1) % kColumns] = 4.0f;
    }
    for (const unsigned block : {32u, 128u}) {
      check_rows({kRows, kColumns, 1}, {2, block},
                 "5 and 4, the others are " + course::number_text(others), x);
    }
  }
}

// Promise: a row with NaN or +infinity becomes NaN as a whole, and so does one with nothing but -infinity.
TEST_CASE("online_softmax: rows with NaN and infinities") {
  for (const std::size_t columns : {2u, 40u, 300u}) {
    const Shape s{8, columns, 2};
    std::vector<float> x = row_checks::elements_of<float>(s, kSmall);
    const auto at = [&](std::size_t r, std::size_t c) -> float& { return x[r * columns + c]; };
    for (std::size_t c = 0; c < columns; ++c) at(1, c) = at(2, c) = at(3, c) = -kInfinity;
    at(0, columns / 2) = kNan;
    at(2, columns - 1) = kNan;
    at(3, 0) = -1e30f;
    at(4, columns - 1) = kInfinity;
    at(5, 0) = kInfinity, at(5, 1) = -kInfinity;
    at(6, 0) = kNan, at(6, 1) = 1e30f;
    for (const unsigned block : {32u, 128u}) {
      check_rows(s, {3, block},
                 "row 0 has a NaN, row 1 is -infinity, row 2, too, but a NaN, row 3, too, but "
                 "-10^30, rows 4 and 5 have +infinity, row 6 has NaN and 10^30, row 7 has neither",
                 x);
    }
  }
  check_rows({2, 1, 0}, {1, 32}, "-infinity; NaN", {-kInfinity, kNan});
}

// Promise: a row may be -infinity for whole parts, and NaN or +infinity in one of them.
TEST_CASE("online_softmax: masks as long as the parts of several warps") {
  if (course::kCpuDevice && course::has_run_before()) return;
  constexpr std::size_t kColumns = 2100;
  const Shape s{8, kColumns, 0};
  std::vector<float> x = row_checks::elements_of<float>(s, kSmall);
  const auto mask = [&](std::size_t r, std::size_t begin, std::size_t end) {
    for (std::size_t c = begin; c < end; ++c) x[r * kColumns + c] = -kInfinity;
  };
  for (const std::size_t r : {0u, 3u, 4u, 5u}) mask(r, 0, kColumns / 2);
  mask(1, 0, kColumns * 3 / 4), mask(2, 0, kColumns - 1), mask(6, 100, kColumns);
  x[3 * kColumns + 5] = x[4 * kColumns + kColumns / 4] = kNan;
  x[5 * kColumns + kColumns / 3] = kInfinity;
  for (const unsigned block : {32u, 128u, 256u}) {
    check_rows(
        s, {3, block},
        "-infinity in the first half of rows 0, 3, 4 and 5, the first three quarters of row 1, row 2 but for "
        "its last column, row 6 from column 100 on; rows 3 and 4 have a NaN there, row 5 +infinity",
        x);
  }
}

// Promise: a row may be -infinity for all that a thread or a warp has of it, but for a NaN or +infinity.
TEST_CASE("online_softmax: rows of -infinity, but for one number and one NaN or infinity") {
  if (course::kCpuDevice && course::has_run_before()) return;
  constexpr std::size_t kColumns = 151;
  const Shape s{kColumns, kColumns, 1};
  std::vector<float> x(s.rows * kColumns, -kInfinity);
  for (std::size_t r = 0; r < s.rows; ++r) {
    x[r * kColumns + r] = r % 3 == 0 ? kInfinity : kNan;
    x[r * kColumns + (r + kColumns / 2) % kColumns] = 1.0f;
  }
  for (const unsigned block : {32u, 96u, 256u}) {
    check_rows(s, {5, block},
               "-infinity, but NaN, or +infinity in each third row, in column r of row r, and 1 in "
               "the column that is 75 later, or 76 before",
               x);
  }
}

// Promise: a launch may have fewer warps than rows.
TEST_CASE("online_softmax: a warp has several rows, each far from the one before") {
  row_checks::check_several_each(check_rows);
}

// Promise: a row may have more than 2^16 columns.
TEST_CASE("online_softmax: long rows") {
  if (course::kCpuDevice && course::has_run_before()) return;
  const auto& [shape, launch] = row_checks::kLongRow;
  check_rows(shape, launch, kSmall);
  // Each addition to the sum rounds it the same way.
  check_rows(shape, launch, {"0 in the first 64 columns, and -10 in all others", [](E e) {
                               return e.column < 64 ? 0.0f : -10.0f;
                             }});
  // Relative to what comes first, each element fits a float, and the sum does not.
  check_rows({2, 20'000, 0}, launch,
             {"0 in the first 64 columns, and 79.5 or 87.5 in all others", [](E e) {
                return e.column < 64 ? 0.0f : e.row == 0 ? 79.5f : 87.5f;
              }});
  row_checks::check_long_rows(check_rows);
}

// Promise: a second launch with the same arrays is the softmax of what x holds then.
TEST_CASE("online_softmax: the same arrays again, with other elements") {
  const Shape s{5, 90, 0};
  INFO(row_checks::text_of(s, kLow.text + ", then " + kSmall.text, "online_softmax", {2, 64}));
  course::Placed<float> d_x(row_checks::elements_of<float>(s, kLow), 0);
  course::GuardedBuffer<float> y(s.rows * s.columns);
  for (const Kind& kind : {kLow, kSmall}) {
    d_x.upload(row_checks::elements_of<float>(s, kind));
    course::launch(online_softmax, {2, 64}, d_x.data(), s.rows, s.columns, y.data());
    check_softmax(s, row_checks::elements_of<float>(s, kind), y.download());
  }
}

// Promise: there may be no rows, and no columns.
TEST_CASE("online_softmax: no rows, and no columns") {
  check_rows({0, 10, 0}, {2, 64}, "no elements", {});
  check_rows({3, 0, 0}, {2, 64}, "no elements", {});
}

// Promise: rows * columns may be more than 2^32, and so may the threads and the warps of a grid (the CPU device runs the
// last two blocks of a grid that has a warp for each row).
TEST_CASE("online_softmax: the last rows of huge grids") {
  row_checks::at_last_rows<float>(kSmall, [](const row_checks::LastRows<float>& last) {
    course::GuardedBuffer<float> y(last.x.size());
    course::launch(online_softmax, {last.grid.grid, last.grid.block}, last.d_x, last.rows,
                   last.shape.columns, y.data() - last.before * last.shape.columns);
    check_softmax(last.shape, last.x, y.download());
  });
}

// Promise: y is right in every order of the lanes.
TEST_CASE("online_softmax: the lanes of a warp go in step") {
  course::count([] { check_rows({5, 150, 1}, {2, 96}, kMasked); });
}

// Promise: every element of x is loaded twice at most, every element of y is stored once, and the lanes of a warp load
// and store neighbours.
// Promise: threads share the rows.
TEST_CASE("online_softmax: two loads and one store per element, by threads that share the rows") {
  course::skip_without_counters();
  const row_checks::Loads<float> loads{"online_softmax", check_rows, kSmall, 2};
  loads.check_kinds(kKinds);
  loads.check_uneven([](const course::Counters& counters, const Shape& s) {
    REQUIRE(course::at_most(counters.global_store_lanes, s.rows * s.columns,
                            "stores by single lanes", "each element is stored once"));
  });
  loads.check_short();
  loads.check_longer();
  loads.check_shared(1, [](const course::Counters& counters, std::size_t elements) {
    REQUIRE(course::at_most(counters.global_store_lanes, elements, "stores by single lanes",
                            "each element is stored once"));
    REQUIRE(course::at_most(counters.global_store_sectors, elements / 8 * 5 / 4,
                            "sectors of 32 bytes that are stored",
                            "the lanes of a warp store neighbours"));
  });
}

}  // namespace online_softmax_check
