// Check of the exercise sum_compensated: rows of every length and start, sums that nearly cancel within a thread and
// between threads, numbers of very different size, infinities and NaN.
#include "sum_compensated.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "checks/row_cases.cuh"

namespace sum_compensated_check {

using E = row_checks::Element;
using row_checks::Kind;
using row_checks::kInfinity;
using row_checks::kNan;
using row_checks::Launch;
using row_checks::Shape;

// ---- rows --------------------------------------------------------------------------------------

float whole(int random) { return static_cast<float>(random); }

const Kind kSmall{"k / 8 with k from -500 to 499", [](E e) { return (whole(e.random) - 501) / 8; }};
/// Two thirds of a row, and -10^8 in the last one. What is left of the columns is 1.
float in_thirds(E e, float first, float second) {
  const std::size_t third = e.columns / 3;
  return e.column < third       ? first
         : e.column < 2 * third ? second
         : e.column < 3 * third ? -1e8f
                                : 1.0f;
}
/// Each thread meets small numbers, then large ones.
const Kind kLargeLater{"the first third is 1, the second 10^8, the third -10^8",
                       [](E e) { return in_thirds(e, 1.0f, 1e8f); }};
const Kind kLargeFirst{"the first third is 10^8, the second 1, the third -10^8",
                       [](E e) { return in_thirds(e, 1e8f, 1.0f); }};
/// What one thread has is cancelled by what another one has.
const Kind kNeighbours{
    "each odd column nearly cancels the even one before it", [](E e) {
      const float large = 1e7f / 3 * (1 + static_cast<float>(e.column / 2 % 7));
      const bool last = e.column + 1 == e.columns && e.column % 2 == 0;
      return last ? 0.25f : e.column % 2 == 0 ? large : -large + large / 8'388'608;
    }};
const Kind kHalves{
    "the second half is the first one below zero, but for a small number among 16", [](E e) {
      const std::size_t half = e.columns / 2;
      if (e.column % 16 == 5 || e.column == 2 * half) return whole(e.random) / 4096;
      const float large = static_cast<float>(e.column % half * 7919 % 1009 + 1) * 33'333.3f;
      return e.column < half ? large : -large;
    }};
const Kind kAllSizes{"from 2^-40 to 2^40, of both signs", [](E e) {
                       return std::ldexp(e.random % 2 == 0 ? whole(e.random) : -whole(e.random),
                                         static_cast<int>(e.column * 37 % 71) - 40);
                     }};
const Kind kLargest{
    "about 10^30, of both signs, and 1", [](E e) {
      return e.column % 3 == 0 ? 1.0f : e.column % 3 == 1 ? whole(e.random) * 1e30f : -5e32f;
    }};
const Kind kTiny{"subnormal numbers", [](E e) { return std::ldexp(whole(e.random) - 400, -149); }};
const Kind kInfinite{"one in eight is infinity, -infinity, NaN, or any of them, as the row has it",
                     [](E e) {
                       const float rare[] = {kInfinity, -kInfinity, kNan};
                       return e.random % 8 == 0 ? rare[(e.row % 4 < 3 ? e.row : e.column) % 4 % 3]
                                                : (whole(e.random) - 501) / 8;
                     }};
const Kind kKinds[] = {kSmall,    kLargeLater, kLargeFirst, kNeighbours, kHalves,
                       kAllSizes, kLargest,    kTiny,       kInfinite};

// ---- sums --------------------------------------------------------------------------------------

/// Checks sums against those in long double, in which no digit of these numbers matters that is lost.
void check_sums(const Shape& s, const std::vector<float>& x, const std::vector<float>& sums) {
  std::vector<double> exact, tolerance;
  for (std::size_t r = 0; r < s.rows; ++r) {
    long double sum = 0, size = 0;
    for (std::size_t c = 0; c < s.columns; ++c) {
      const long double value = x[r * s.columns + c];
      sum += value;
      size += std::fabs(value);
    }
    exact.push_back(static_cast<double>(sum));
    const auto columns = static_cast<long double>(s.columns);
    tolerance.push_back(static_cast<double>(std::fabs(sum) * 0x1p-22L +
                                            size * (0x1p-38L + columns * columns * 0x1p-58L)));
  }
  REQUIRE(row_checks::near(sums, exact, tolerance, "sums", row_checks::row_of(s, x, 1)));
}

void check_rows(const Shape& s, Launch launch, const std::string& text,
                const std::vector<float>& x) {
  INFO(row_checks::text_of(s, text, "sum_compensated", launch));
  const course::Placed<float> d_x(x, s.start);
  course::GuardedBuffer<float> sums(s.rows);
  course::launch(sum_compensated, {launch.grid, launch.block}, d_x.data(), s.rows, s.columns,
                 sums.data());
  check_sums(s, x, sums.download());
  REQUIRE(sums.intact("sums"));
}

void check_rows(const Shape& s, Launch launch, const Kind& kind) {
  check_rows(s, launch, kind.text, row_checks::elements_of<float>(s, kind));
}

// Promise: sums[r] is the sum of row r, within 2^-22 |sum| + (2^-38 + columns^2 * 2^-58) size.
// Promise: any number of columns, x aligned to 4 bytes, and any grid of blocks of whole warps, with fewer warps than
// rows, or more.
// Promise: launches give no dynamic shared memory (OUT OF BOUNDS in every test case).
TEST_CASE("sum_compensated: rows of every length") {
  row_checks::check_all_lengths(check_rows, kSmall, kKinds);
}

// Promise: blocks have any number of warps from 1 to 32.
TEST_CASE("sum_compensated: blocks of every number of warps") {
  row_checks::check_all_blocks(check_rows, kSmall);
}

// Promise: what the additions of a thread lose is in the sum, and so is what the additions between threads lose.
TEST_CASE("sum_compensated: numbers that nearly cancel, of every size, in blocks of many sizes") {
  for (const Launch launch : {Launch{1, 32}, Launch{3, 96}, Launch{2, 256}, Launch{2, 1024}}) {
    for (const Kind& kind : kKinds) check_rows({4, 991, launch.block % 7}, launch, kind);
  }
}

// Promise: what one lane has may be cancelled by what any other one has.
TEST_CASE("sum_compensated: 10^8 and -10^8 in two columns of zeros and a 1") {
  constexpr std::size_t kColumns = 96;
  std::vector<float> x(24 * kColumns, 0.0f);
  for (std::size_t r = 0; r < 24; ++r) {
    float* const row = x.data() + r * kColumns;
    row[r * 11 % kColumns] = 1e8f;
    row[(r * 11 + 1 + r) % kColumns] = -1e8f;
    row[(r * 11 + 33 + 2 * r) % kColumns] += 1.0f;
  }
  for (const unsigned block : {32u, 128u}) {
    check_rows({24, kColumns, 1}, {2, block}, "10^8, -10^8 and 1, the others are 0", x);
  }
}

// Promise: infinities of one sign stay what they are, those of both signs give NaN, and so does a NaN.
TEST_CASE("sum_compensated: infinities and NaN") {
  for (const std::size_t columns : {3u, 40u, 300u, 9000u}) {
    if (columns > 1000 && course::kCpuDevice && course::has_run_before()) continue;
    const Shape s{11, columns, 2};
    std::vector<float> x = row_checks::elements_of<float>(s, kSmall);
    const auto at = [&](std::size_t r, std::size_t c) -> float& {
      return x[r * columns + std::min<std::size_t>(c, columns - 1)];
    };
    at(0, 0) = kInfinity;
    at(1, columns - 1) = -kInfinity;
    at(2, columns / 2) = at(2, 0) = kInfinity;
    at(3, 0) = kInfinity, at(3, columns - 1) = -kInfinity;
    at(4, columns / 2) = kNan;
    at(5, 0) = kNan, at(5, 1) = kInfinity;
    at(6, columns / 2) = -kInfinity, at(6, 0) = 1e30f;
    // Of one lane, where a warp or a block has the row.
    at(8, 0) = kInfinity, at(8, 32) = -kInfinity;
    at(9, 1) = -kInfinity, at(9, 129) = kInfinity;
    at(10, 2) = kNan, at(10, 258) = kInfinity;
    for (const unsigned block : {32u, 128u}) {
      check_rows(s, {3, block},
                 "infinity, -infinity, infinity twice, both, NaN, NaN and infinity, -infinity and "
                 "10^30, neither, both, both, NaN and infinity",
                 x);
    }
  }
}

// Promise: the size of a row may be almost 2^127.
TEST_CASE("sum_compensated: sums near the largest float") {
  std::vector<float> x(64, 0x1p121f * 0.99f);
  check_rows({1, 64, 0}, {1, 32}, "all are 0.99 * 2^121", x);
  x.assign(64, 0);
  x[3] = 0x1.fffffep126f;
  check_rows({1, 64, 0}, {1, 64}, "one is almost 2^127, the others are 0", x);
}

// Promise: a launch may have fewer warps than rows.
TEST_CASE("sum_compensated: a warp has several rows, each far from the one before") {
  row_checks::check_several_each(check_rows);
}

// Promise: what the additions of a thread lose is in the sum, however many elements the thread has.
TEST_CASE("sum_compensated: 10^8, 1 and -10^8, thousands of zeros apart") {
  if (course::kCpuDevice && course::has_run_before()) return;
  constexpr std::size_t kColumns = 20'000, kApart = 1024;  // one thread has all three of a row
  std::vector<float> x(4 * kColumns, 0.0f);
  for (std::size_t r = 0; r < 4; ++r) {
    float* const row = x.data() + r * kColumns + r;
    row[0] = 1e8f;
    row[kApart * (1 + 5 * r)] = 1.0f;
    row[kApart * 19] = -1e8f;
  }
  for (const unsigned block : {32u, 128u}) {
    check_rows({4, kColumns, 0}, {1, block}, "10^8, 1 and -10^8, the others are 0", x);
  }
}

// Promise: a row may have more than 2^16 columns; a block may have several such rows.
TEST_CASE("sum_compensated: long rows") {
  if (course::kCpuDevice && course::has_run_before()) return;
  const auto& [shape, launch] = row_checks::kLongRow;
  for (const Kind& kind : {kHalves, kLargeLater, kLargeFirst}) check_rows(shape, launch, kind);
  row_checks::check_long_rows(check_rows);
}

// Promise: a row without columns gives 0; there may be no rows.
TEST_CASE("sum_compensated: rows without columns, and no rows") {
  check_rows({3, 0, 0}, {2, 64}, "no elements", {});
  check_rows({0, 10, 0}, {2, 64}, "no elements", {});
}

// Promise: rows * columns may be more than 2^32, and so may the threads and the warps of a grid (the CPU device runs the
// last two blocks of a grid that has a warp for each row).
TEST_CASE("sum_compensated: the last rows of huge grids") {
  row_checks::at_last_rows<float>(kSmall, [](const row_checks::LastRows<float>& last) {
    course::GuardedBuffer<float> sums(last.shape.rows);
    course::launch(sum_compensated, {last.grid.grid, last.grid.block}, last.d_x, last.rows,
                   last.shape.columns, sums.data() - last.before);
    check_sums(last.shape, last.x, sums.download());
  });
}

// Promise: the sums are right in every order of the lanes.
TEST_CASE("sum_compensated: the lanes of a warp go in step") {
  course::count([] { check_rows({5, 150, 1}, {2, 96}, kLargeLater); });
}

// Promise: every element is loaded once, and the lanes of a warp load neighbours.
// Promise: threads share the rows.
TEST_CASE("sum_compensated: every element is loaded once, by threads that share the rows") {
  course::skip_without_counters();
  const row_checks::Loads<float> loads{"sum_compensated", check_rows, kSmall};
  loads.check_kinds(kKinds);
  loads.check_uneven();
  loads.check_longer();
  loads.check_shared();
}

}  // namespace sum_compensated_check
