// Check of the exercise merge_moments: parts of every size, without numbers, far apart and equal; rows of every length and
// start, with a mean that is large, and with one that is not.
#include "merge_moments.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "checks/row_cases.cuh"

namespace merge_moments_check {

using E = row_checks::Element;
using row_checks::Kind;
using row_checks::kNan;
using row_checks::Launch;
using row_checks::Shape;

static_assert(std::is_same_v<decltype(PartMoments::count), unsigned> &&
                  std::is_same_v<decltype(PartMoments::mean), float> &&
                  std::is_same_v<decltype(PartMoments::squares), float>,
              "PartMoments has an unsigned count, and a mean and squares that are floats");

// ---- two parts ---------------------------------------------------------------------------------

__global__ void merge_pairs(const PartMoments* a, const PartMoments* b, unsigned n,
                            PartMoments* both) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) both[i] = merge(a[i], b[i]);
}

std::string part_text(const PartMoments& p) {
  return "{" + std::to_string(p.count) + ", " + course::number_text(p.mean) + ", " +
         course::number_text(p.squares) + "}";
}

/// Merges a with b, and b with a.
void check_merge(const PartMoments& a, const PartMoments& b) {
  const auto d_a = course::DeviceBuffer<PartMoments>::from({a, b});
  const auto d_b = course::DeviceBuffer<PartMoments>::from({b, a});
  course::GuardedBuffer<PartMoments> both(2);
  course::launch(merge_pairs, {1, 32}, d_a.data(), d_b.data(), 2u, both.data());
  const std::vector<PartMoments> results = both.download();
  const double count_a = a.count, count_b = b.count, count = count_a + count_b;
  const double mean_a = a.count == 0 ? 0 : static_cast<double>(a.mean);
  const double mean_b = b.count == 0 ? 0 : static_cast<double>(b.mean);
  const double squares_a = a.count == 0 ? 0 : static_cast<double>(a.squares);
  const double squares_b = b.count == 0 ? 0 : static_cast<double>(b.squares);
  for (std::size_t i = 0; i < 2; ++i) {
    INFO("merge(" << part_text(i == 0 ? a : b) << ", " << part_text(i == 0 ? b : a)
                  << ") = " << part_text(results[i]));
    REQUIRE(course::same(results[i].count, a.count + b.count, "count"));
    if (count == 0) continue;
    const double mean = (count_a * mean_a + count_b * mean_b) / count;
    const double squares =
        squares_a + squares_b + (mean_b - mean_a) * (mean_b - mean_a) * (count_a * count_b / count);
    REQUIRE(course::close(static_cast<double>(results[i].mean), mean,
                          1e-6 * std::max(std::fabs(mean_a), std::fabs(mean_b)), "mean"));
    REQUIRE(
        course::close(static_cast<double>(results[i].squares), squares, 1e-6 * squares, "squares"));
  }
}

// ---- rows --------------------------------------------------------------------------------------

const Kind kSmall{"-16 to 15, in no order",
                  [](E e) { return static_cast<float>(e.random % 32 - 16); }};
const Kind kLargeMean{"10000 + k / 32 with k from 0 to 15",
                      [](E e) { return 10'000.0f + static_cast<float>(e.random % 16) / 32; }};
const Kind kKinds[] = {
    kSmall,
    kLargeMean,
    {"all columns of a row are equal",
     [](E e) { return static_cast<float>(e.row) * -1000.1f - 3.3f; }},
    {"it grows from column to column",
     [](E e) { return static_cast<float>(e.row % 3 + e.column) * 0.25f; }},
    {"up to 10^12", [](E e) { return static_cast<float>(e.random - 500) * 2e9f; }},
    {"the first column is 5000, all others are about -1",
     [](E e) { return e.column == 0 ? 5000.0f : -1 - static_cast<float>(e.random) / 4096; }},
};

/// Two results for each row, and how far they may be from these.
struct Expected {
  std::vector<double> mean, mean_tolerance, variance, variance_tolerance;
};

Expected expected_of(const Shape& s, const std::vector<float>& x) {
  Expected e;
  const auto columns = static_cast<double>(s.columns);
  for (std::size_t r = 0; r < s.rows; ++r) {
    double sum = 0, squares = 0;
    for (std::size_t c = 0; c < s.columns; ++c) sum += static_cast<double>(x[r * s.columns + c]);
    const double mean = sum / columns;
    for (std::size_t c = 0; c < s.columns; ++c) {
      const double apart = static_cast<double>(x[r * s.columns + c]) - mean;
      squares += apart * apart;
    }
    const double variance = squares / columns;
    e.mean.push_back(mean);
    e.mean_tolerance.push_back(1e-5 * std::max(std::fabs(mean), std::sqrt(variance)));
    e.variance.push_back(variance);
    e.variance_tolerance.push_back(1e-4 * variance + 1e-12 * mean * mean);
  }
  return e;
}

void check_results(const Shape& s, const std::vector<float>& x, const std::vector<float>& mean,
                   const std::vector<float>& variance) {
  const Expected e = expected_of(s, x);
  const course::Inputs row = row_checks::row_of(s, x, 1);
  REQUIRE(row_checks::near(mean, e.mean, e.mean_tolerance, "mean", row));
  REQUIRE(row_checks::near(variance, e.variance, e.variance_tolerance, "variance", row));
}

void check_rows(const Shape& s, Launch launch, const Kind& kind) {
  INFO(row_checks::text_of(s, kind.text, "row_moments", launch));
  const std::vector<float> x = row_checks::elements_of<float>(s, kind);
  const course::Placed<float> d_x(x, s.start);
  course::GuardedBuffer<float> mean(s.rows), variance(s.rows);
  course::launch(row_moments, {launch.grid, launch.block}, d_x.data(), s.rows, s.columns,
                 mean.data(), variance.data());
  check_results(s, x, mean.download(), variance.download());
  REQUIRE(mean.intact("mean"));
  REQUIRE(variance.intact("variance"));
}

// Promise: merge() returns what is known of the numbers of both parts, its mean within 10^-6 of the larger mean, and
// squares within 10^-6 of the exact sum of the parts as they are given.
TEST_CASE("merge_moments: two parts of many sizes") {
  for (const unsigned count : {1u, 2u, 3u, 31u, 1000u, 70'001u, 10'000'000u}) {
    for (const float mean : {0.0f, 2.5f, -7.0f, 10'000.25f}) {
      check_merge({count, mean, 3.0f * static_cast<float>(count)}, {1, 4.0f, 0});
      check_merge({count, mean, 0.5f}, {count, mean + 1.0f, 0.25f});
      check_merge({count, mean, 0.5f}, {3 * count + 1, -mean, 0.25f});
      check_merge({count, mean, 0}, {70, mean, 0});
    }
    check_merge({count, 8192.0f, 0}, {count, 8192.0f + 1.0f / 1024, 0});
  }
}

// Promise: the counts together are below 2^32, and numbers are at most 10^12 in size.
TEST_CASE("merge_moments: parts with up to 2^32 - 1 numbers, and large ones") {
  check_merge({100'000, 1.0f, 2.0f}, {100'000, 3.0f, 5.0f});
  check_merge({2'147'483'648u, 1.0f, 2.0f}, {2'147'483'647u, 3.0f, 5.0f});
  check_merge({4'294'967'294u, 1.0f, 2.0f}, {1, 30'000.0f, 0});
  check_merge({2'000'000'000u, 1e12f, 2.0f}, {2'000'000'000u, -1e12f, 5.0f});
  check_merge({3, 1e12f, 0}, {5, 0.9e12f, 1e24f});
}

// Promise: if one part has count 0, the result is the other one, whatever the mean and the squares of the part without
// numbers are; if both have, the result has count 0.
TEST_CASE("merge_moments: parts without numbers") {
  for (const PartMoments& empty : {PartMoments{0, 0, 0}, PartMoments{0, kNan, kNan},
                                   PartMoments{0, 1e30f, 7.0f}, PartMoments{0, -5.0f, 0}}) {
    check_merge(empty, {1, 3.5f, 0});
    check_merge(empty, {77, -10'000.5f, 3.25f});
    check_merge(empty, {0, 2.0f, kNan});
  }
}

// Promise: mean[r] and variance[r] are those of row r.
// Promise: mean is within 10^-5 of the larger of |mean| and the standard deviation, and variance within 10^-4
// variance + 10^-12 mean^2 of the exact one, if small and large elements are mixed.
// Promise: any number of columns, x aligned to 4 bytes, and any grid of blocks of whole warps, with fewer warps than
// rows, or more.
// Promise: launches give no dynamic shared memory (OUT OF BOUNDS in every test case).
TEST_CASE("merge_moments: rows of every length") {
  row_checks::check_all_lengths(check_rows, kLargeMean, kKinds);
}

// Promise: blocks have any number of warps from 1 to 32.
TEST_CASE("merge_moments: blocks of every number of warps") {
  row_checks::check_all_blocks(check_rows, kLargeMean);
}

// Promise: the kernel is right for every kind of elements.
TEST_CASE("merge_moments: every kind of elements, blocks of many sizes") {
  for (const Launch launch : {Launch{1, 32}, Launch{2, 160}, Launch{2, 512}, Launch{1, 1024}}) {
    for (const Kind& kind : kKinds) check_rows(row_checks::rows_for(launch), launch, kind);
  }
}

// Promise: a launch may have fewer warps than rows.
TEST_CASE("merge_moments: a warp has several rows, each far from the one before") {
  row_checks::check_several_each(check_rows);
  check_rows(row_checks::kSeveralEach.shape, row_checks::kSeveralEach.launch,
             {"two rows are 10^7, the next two k / 64 with k from -16 to 15, and so on", [](E e) {
                return e.row / 2 % 2 == 0 ? 1e7f : static_cast<float>(e.random % 32 - 16) / 64;
              }});
}

// Promise: a row may have more than 2^16 columns.
TEST_CASE("merge_moments: long rows") {
  if (course::kCpuDevice && course::has_run_before()) return;
  const auto& [shape, launch] = row_checks::kLongRow;
  check_rows(shape, launch, kSmall);
  check_rows(shape, launch, kLargeMean);
  check_rows(shape, launch,
             {"32 of 400 columns are 10^6, the others -16 to 15, in no order", [](E e) {
                return e.column % 400 < 32 ? 1e6f : static_cast<float>(e.random % 32 - 16);
              }});
  row_checks::check_long_rows(check_rows);
}

// Promise: a row of up to 2^11 columns may rise or fall, if its |mean| is at most 10 standard deviations.
TEST_CASE("merge_moments: rows that rise and fall") {
  const Kind kinds[] = {
      {"it grows from 2.5 to 3.5",
       [](E e) { return 2.5f + static_cast<float>(e.column) / static_cast<float>(e.columns); }},
      {"it falls from 1 to -2",
       [](E e) { return 1 - 3 * static_cast<float>(e.column) / static_cast<float>(e.columns); }},
      {"100 in the first half, 1000 in the second",
       [](E e) { return e.column < e.columns / 2 ? 100.0f : 1000.0f; }},
  };
  for (const Kind& kind : kinds) check_rows({3, 2048, 5}, {2, 64}, kind);
}

// Promise: a row without columns gives NaN for both; there may be no rows.
TEST_CASE("merge_moments: rows without columns, and no rows") {
  INFO("3 rows without columns; row_moments<<<2, 64>>>");
  const course::Placed<float> d_x({}, 0);
  course::GuardedBuffer<float> mean(3), variance(3);
  course::launch(row_moments, {2, 64}, d_x.data(), std::size_t{3}, std::size_t{0}, mean.data(),
                 variance.data());
  const std::vector<double> nan(3, std::nan("")), none(3, 0);
  const auto row = [](std::size_t r) { return "row " + std::to_string(r) + " has no columns"; };
  REQUIRE(row_checks::near(mean.download(), nan, none, "mean", row));
  REQUIRE(row_checks::near(variance.download(), nan, none, "variance", row));
  check_rows({0, 10, 0}, {2, 64}, kSmall);
}

// Promise: rows * columns may be more than 2^32, and so may the threads and the warps of a grid (the CPU device runs the
// last two blocks of a grid that has a warp for each row).
TEST_CASE("merge_moments: the last rows of huge grids") {
  row_checks::at_last_rows<float>(kSmall, [](const row_checks::LastRows<float>& last) {
    course::GuardedBuffer<float> mean(last.shape.rows), variance(last.shape.rows);
    course::launch(row_moments, {last.grid.grid, last.grid.block}, last.d_x, last.rows,
                   last.shape.columns, mean.data() - last.before, variance.data() - last.before);
    check_results(last.shape, last.x, mean.download(), variance.download());
  });
}

// Promise: the results are right in every order of the lanes.
TEST_CASE("merge_moments: the lanes of a warp go in step") {
  course::count([] { check_rows({5, 150, 1}, {2, 96}, kSmall); });
}

// Promise: every element is loaded once, and the lanes of a warp load neighbours.
// Promise: threads share the rows.
TEST_CASE("merge_moments: every element is loaded once, by threads that share the rows") {
  course::skip_without_counters();
  const row_checks::Loads<float> loads{"row_moments", check_rows, kSmall};
  loads.check_kinds(kKinds);
  loads.check_uneven();
  loads.check_short();
  loads.check_longer();
  loads.check_shared();
}

}  // namespace merge_moments_check
