// Check of the exercise bulk_rows: rows of every width, grids that are too small and too large, many rows to one, and
// that each row is one bulk addition.
#include "bulk_rows.cuh"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/cases.cuh>
#include <course/check.cuh>
#include <course/guarded.cuh>
#include <course/launch.cuh>
#include <course/placed.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "inputs.cuh"

namespace bulk_rows_check {

using Launch = course::LaunchShape;

/// A grid of more than 2^32 warps: counted in 32 bits it has 16.
constexpr Launch kManyWarps{(1u << 28) + 1, 512};

struct Shape {
  std::size_t rows;
  unsigned width;
  std::size_t table_rows;
};

std::string text_of(const Shape& s, Launch launch) {
  return course::counted(s.rows, "row") + " of " + course::counted(s.width, "column") +
         " into a table of " + course::counted(s.table_rows, "row") + "; " +
         course::launch_text("bulk_rows", launch, launch.block / 32 * s.width * sizeof(float));
}

constexpr float kFraction = 1.0f / 4096;

/// The table holds 0.5 before. Elements are 1 and -1, weights small whole numbers and 2^-12, which no half could hold
/// beside them, so that sums are exact.
void check_rows(const Shape& s, Launch launch, int launches = 1) {
  const std::vector<float> source = cluster_checks::coin_flips<float>(s.rows * s.width);
  const std::vector<int> index = course::random_index(s.rows, s.table_rows);
  std::vector<float> weight(s.rows), expected(s.table_rows * s.width, 0.5f);
  for (std::size_t r = 0; r < s.rows; ++r)
    weight[r] = static_cast<float>(course::mixed(r) % 9) - 3.0f + kFraction;
  for (std::size_t i = 0; i < launches * source.size(); ++i) {
    const std::size_t at = i % source.size(), r = at / s.width;
    expected[static_cast<std::size_t>(index[r]) * s.width + at % s.width] += weight[r] * source[at];
  }
  const auto d_source = course::DeviceBuffer<float>::from(source);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  const auto d_weight = course::DeviceBuffer<float>::from(weight);
  course::GuardedBuffer<float> table(expected.size());
  const std::vector<float> before(expected.size(), 0.5f);
  CUDA_CHECK(cudaMemcpy(table.data(), before.data(), table.bytes(), cudaMemcpyHostToDevice));
  for (int i = 0; i < launches; ++i) {
    course::launch(bulk_rows,
                   {.blocks = launch.grid,
                    .threads = launch.block,
                    .shared_bytes = launch.block / 32 * s.width * sizeof(float)},
                   d_source.data(), d_index.data(), d_weight.data(), s.rows, s.width, table.data());
  }
  INFO(text_of(s, launch));
  REQUIRE(course::same(table.download(), expected, "table"));
  REQUIRE(table.intact("table"));
}

// Promise: weight[r] * source[r][c] is added to table[index[r]][c] for every row r below rows and
// every column c below width.
// Promise: width is any multiple of 4 (OUT OF BOUNDS of a shared row that is too short).
// Promise: a bulk addition comes after a fence, and its source stays until it has been read (BULK
// OPERATION WITHOUT ITS FENCE, DATA RACE, BLOCK LEFT BEFORE ITS BULK OPERATION HAD READ).
TEST_CASE("bulk_rows: rows of every width") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  for (const unsigned width : {4u, 8u, 12u, 32u, 36u, 64u, 132u}) {
    check_rows({21, width, 5}, {2, 64});
  }
  for (const unsigned width : {260u, 1028u, 8196u}) check_rows({3, width, 2}, {2, 32});
}

// Promise: the grid is one-dimensional, of any size, and a block has a multiple of 32 threads.
TEST_CASE("bulk_rows: grids that are too small, and too large") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  for (const Launch launch : {Launch{1, 32}, Launch{1, 96}, Launch{3, 128}, Launch{20, 64}}) {
    check_rows({37, 20, 11}, launch);
  }
}

// Promise: a grid may have more than 2^32 warps.
TEST_CASE("bulk_rows: more than 2^32 warps") {
  course::skip_under_sanitizer("compute-sanitizer takes minutes for so many threads");
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  INFO("the grid has 2^32 + 16 warps, a number that is 16 in 32 bits"
       << (course::kCpuDevice ? "; of its blocks the first two and the last one run" : ""));
  course::with_some_blocks(2, 1, [] { check_rows({20, 4, 7}, kManyWarps); });
}

// Promise: rows, and the products of rows and width, are any numbers that fit in std::size_t (the last rows, for which
// the CPU device runs the last two blocks).
TEST_CASE("bulk_rows: the last of more than 2^32 rows") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks, and has no memory for the rows");
  constexpr std::size_t kThere = 32;  // rows of the last two blocks
  constexpr unsigned kWidth = 8, kTableRows = 5;
  const std::vector<float> h_source = cluster_checks::coin_flips<float>(kThere * kWidth);
  const std::vector<int> h_index = course::random_index(kThere, kTableRows);
  std::vector<float> h_weight(kThere), expected(kTableRows * kWidth);
  for (std::size_t r = 0; r < kThere; ++r) h_weight[r] = static_cast<float>(r);
  for (std::size_t i = 0; i < h_source.size(); ++i) {
    const std::size_t r = i / kWidth;
    expected[static_cast<std::size_t>(h_index[r]) * kWidth + i % kWidth] +=
        h_weight[r] * h_source[i];
  }
  const course::Placed<float> some_source(h_source, 4), some_weights(h_weight, 1);
  const course::Placed<int> some_indices(h_index, 1);
  course::at_end_of_grid(kManyWarps, [&](Launch grid) {
    const std::size_t rows = std::size_t{grid.grid} * (grid.block / 32), before = rows - kThere;
    const float* const source = some_source.data() - before * kWidth;
    const float* const weight = some_weights.data() - before;
    const int* const index = some_indices.data() - before;
    auto table = course::DeviceBuffer<float>::zeros(expected.size());
    const std::size_t shared = grid.block / 32 * kWidth * sizeof(float);
    INFO(rows << " rows of " << kWidth << " columns; "
              << course::launch_text("bulk_rows", grid, shared)
              << "; of its blocks the last two run, and memory is there for their rows");
    course::launch(bulk_rows, {.blocks = grid.grid, .threads = grid.block, .shared_bytes = shared},
                   source, index, weight, rows, unsigned{kWidth}, table.data());
    REQUIRE(course::same(table.download(), expected, "table"));
  });
}

// Promise: rows may be 0, several rows may have the same index, and what the
// table held is part of the sums.
TEST_CASE("bulk_rows: no rows; many rows to one row; two launches") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  check_rows({0, 8, 3}, {2, 32});
  check_rows({90, 8, 1}, {2, 96});
  check_rows({40, 16, 4}, {2, 64}, 2);
}

// Promise: dynamic shared memory for one row of floats per warp is enough, for 1024
// threads, too (OUT OF BOUNDS).
TEST_CASE("bulk_rows: a full block, many rows") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  check_rows({course::kCpuDevice ? 200u : 20'011u, 64, 50}, {course::kCpuDevice ? 1u : 64u, 1024});
}

// Promise: index[r] is any row number that an int holds.
TEST_CASE("bulk_rows: row numbers up to 2^31 - 2") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  // Only the last three rows of the table are in memory.
  constexpr std::size_t kBefore = (std::size_t{1} << 31) - 4, kWidth = 4;
  INFO("3 rows of 4 columns into the last 3 of 2^31 - 1 rows; table[0] is element "
       << kBefore * kWidth);
  const auto d_source = course::DeviceBuffer<float>::from(std::vector<float>(3 * kWidth, 2.0f));
  const int first = static_cast<int>(kBefore);
  const auto d_index = course::DeviceBuffer<int>::from({first + 2, first, first + 2});
  const auto d_weight = course::DeviceBuffer<float>::from({1.0f, 2.0f, 3.0f});
  auto table = course::DeviceBuffer<float>::zeros(3 * kWidth);
  course::launch(bulk_rows, {.blocks = 1, .threads = 32, .shared_bytes = kWidth * sizeof(float)},
                 d_source.data(), d_index.data(), d_weight.data(), std::size_t{3}, unsigned{kWidth},
                 table.data() - kBefore * kWidth);
  REQUIRE(course::same(table.download(), {4, 4, 4, 4, 0, 0, 0, 0, 8, 8, 8, 8}, "the last rows"));
}

// Promise: each product is rounded to float before it is added.
TEST_CASE("bulk_rows: each product is rounded before it is added") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  // 3 * (1/3 rounded to float) is 1 after rounding, and a little more than 1 before.
  const float third = 1.0f / 3.0f;
  const auto d_source = course::DeviceBuffer<float>::from(std::vector<float>(4, third));
  const auto d_index = course::DeviceBuffer<int>::from({0});
  const auto d_weight = course::DeviceBuffer<float>::from({3.0f});
  auto table = course::DeviceBuffer<float>::from(std::vector<float>(4, -1.0f));
  course::launch(bulk_rows, {.blocks = 1, .threads = 32, .shared_bytes = 4 * sizeof(float)},
                 d_source.data(), d_index.data(), d_weight.data(), std::size_t{1}, 4u,
                 table.data());
  REQUIRE(course::same(table.download(), std::vector<float>(4, 0.0f), "table"));
}

// Promise: weight[r] * source[r][c] is added whatever it is: a weight of 0 makes NaN of an infinity.
TEST_CASE("bulk_rows: weights of 0, infinities and NaN") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  constexpr std::size_t kRows = 4, kWidth = 4;
  const float row[kWidth] = {INFINITY, 1.0f, std::nanf(""), -INFINITY};
  std::vector<float> source;
  for (std::size_t r = 0; r < kRows; ++r) source.insert(source.end(), row, row + kWidth);
  const auto d_source = course::DeviceBuffer<float>::from(source);
  const auto d_index = course::DeviceBuffer<int>::from({0, 1, 2, 3});
  const auto d_weight = course::DeviceBuffer<float>::from({0.0f, -0.0f, 2.0f, 0.0f});
  auto table = course::DeviceBuffer<float>::from(std::vector<float>(kRows * kWidth, 0.5f));
  course::launch(
      bulk_rows, {.blocks = 1, .threads = 64, .shared_bytes = 2 * kWidth * sizeof(float)},
      d_source.data(), d_index.data(), d_weight.data(), kRows, unsigned{kWidth}, table.data());
  INFO(
      "each row of source is infinity, 1, NaN, -infinity; weights 0, -0, 2, 0; a row of 0.5 for each");
  std::vector<std::string> found;
  for (const float x : table.download()) {
    found.push_back(std::isnan(x) ? "NaN" : course::number_text(x));
  }
  const std::vector<std::string> of_zero = {"NaN", "0.5", "NaN", "NaN"};
  const std::vector<std::string> expected[] = {
      of_zero, of_zero, {"inf", "2.5", "NaN", "-inf"}, of_zero};
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t c = 0; c < kWidth; ++c) {
      const std::string at = "table[" + std::to_string(r) + "][" + std::to_string(c) + "]";
      REQUIRE(course::Verdict{
          found[r * kWidth + c] == expected[r][c],
          at + ": expected " + expected[r][c] + ", found " + found[r * kWidth + c]});
    }
  }
}

// Promise: each row is added by one bulk addition, and no thread makes an atomic.
// Promise: the lanes of a warp share the work of a row.
TEST_CASE("bulk_rows: one bulk addition per row, no atomics, and lanes side by side") {
  if (!course::has_clusters()) SKIP(course::kNoClusters);
  course::skip_without_counters();
  const Shape s{64, 64, 5};
  const Launch launch{4, 128};  // 4 rows for each warp
  const auto c = course::count([&] { check_rows(s, launch); });
  INFO(text_of(s, launch));
  REQUIRE(course::same(c->bulk_additions, s.rows, "bulk additions"));
  REQUIRE(course::none(c->global_atomic_lanes, "atomics on global memory",
                       "the bulk addition adds all numbers of a row"));
  REQUIRE(course::work_is_shared(*c, 4 * 10));
  REQUIRE(course::at_most(c->global_loads, s.rows * 10, "loads from global memory by warps",
                          "the lanes share a row; what the source names twice is loaded twice"));
}

}  // namespace bulk_rows_check
