// Check of the challenge beat_rows: every number of rows, widths and starts, rows that meet, numbers of every
// size, sums that are rounded, an object that is used again, and fewer atomics than the starter makes.
#include "beat_rows.cuh"

#include <cuda_fp16.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "checks/challenge_cases.cuh"

namespace beat_rows_check {

// ---- rows --------------------------------------------------------------------------------------

struct Shape {
  std::size_t rows, width, table_rows;
  std::size_t source = 0, table = 0;  // halves after a multiple of 64 bytes
  std::size_t index = 0;              // ints after one
};

std::string text_of(const Shape& s, const std::string& data) {
  return course::counted(s.rows, "row") + " of " + course::counted(s.width, "half", "halves") +
         " into " + course::counted(s.table_rows, "row") + ": " + data + "; source begins " +
         std::to_string(2 * s.source) + ", table " + std::to_string(2 * s.table) + " and index " +
         std::to_string(4 * s.index) + " bytes after a multiple of 64";
}

/// Every row of the table gets some, but for those whose number leaves a remainder of 2.
std::vector<int> spread(const Shape& s) {
  const std::vector<int> random = course::position_values<int>(s.rows);
  std::vector<int> index(s.rows);
  for (std::size_t r = 0; r < s.rows; ++r) {
    const auto to = static_cast<std::size_t>(random[r]) * 7919 % s.table_rows;
    index[r] = static_cast<int>(to % 5 == 2 ? to - 1 : to);
  }
  return index;
}

/// Numbers from -2 to 2: every sum of fewer than 1000 of them is exact in half.
std::vector<__half> whole_numbers(std::size_t n) {
  std::vector<__half> values;
  for (const int random : course::position_values<int>(n)) {
    values.push_back(__half(static_cast<float>(random % 5 - 2)));
  }
  return values;
}

std::vector<float> floats(const std::vector<__half>& halves) {
  return {halves.begin(), halves.end()};
}

// ---- one call ----------------------------------------------------------------------------------

/// Checks an answer whose table holds 3 before, and -0.0 where no row is added.
void check(BeatRows& answer, const Shape& s, const std::vector<int>& index) {
  const std::vector<__half> source = whole_numbers(s.rows * s.width);
  std::vector<bool> gets(s.table_rows, false);
  for (const int to : index) gets[static_cast<std::size_t>(to)] = true;
  std::vector<__half> before(s.table_rows * s.width), expected;
  for (std::size_t i = 0; i < before.size(); ++i) {
    before[i] = __half(gets[i / s.width] ? 3.0f : -0.0f);
  }
  std::vector<float> sums = beat_rows_check::floats(before);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto to = static_cast<std::size_t>(index[i / s.width]);
    sums[to * s.width + i % s.width] += __half2float(source[i]);
  }
  const course::Placed<__half> d_source(source, s.source);
  const course::Placed<int> d_index(index, s.index);
  course::Placed<__half> table(before, s.table);
  answer(d_source.data(), d_index.data(), s.rows, s.width, table.data(), s.table_rows);
  const std::vector<float> found = beat_rows_check::floats(table.download());
  REQUIRE(course::same(found, sums, "d_table", [&](std::size_t i) {
    return "row " + std::to_string(i / s.width) + " and column " + std::to_string(i % s.width) +
           ", where it held " + course::number_text(__half2float(before[i])) + " before";
  }));
  std::size_t changed = 0;  // signs of zeros in rows that nothing was added to
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (!gets[i / s.width] && !std::signbit(found[i])) ++changed;
  }
  REQUIRE(course::none(changed, "zeros of rows without an addition that lost their sign"));
  REQUIRE(table.intact("d_table"));
}

/// The rows from `first` on that an answer makes of a table of zeros.
std::vector<float> added_to_zeros(const Shape& s, const std::vector<__half>& source,
                                  const std::vector<int>& index, std::size_t first = 0) {
  const auto d_source = course::DeviceBuffer<__half>::from(source);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  auto table = course::DeviceBuffer<__half>::zeros(s.table_rows * s.width);
  BeatRows answer;
  answer(d_source.data(), d_index.data(), s.rows, s.width, table.data(), s.table_rows);
  std::vector<__half> rows((s.table_rows - first) * s.width);
  CUDA_CHECK(cudaMemcpy(rows.data(), table.data() + first * s.width, rows.size() * sizeof(__half),
                        cudaMemcpyDeviceToHost));
  return beat_rows_check::floats(rows);
}

/// Of an answer that is slow here, some of the cases are tried.
bool is_tried() {
  INFO("100 rows of 10 halves into row 0 of 10 rows: all are 0");
  static course::CasesInTime cases([] {
    const auto source = course::DeviceBuffer<__half>::zeros(1000);
    const auto index = course::DeviceBuffer<int>::zeros(100);
    auto table = course::DeviceBuffer<__half>::zeros(100);
    BeatRows{}(source.data(), index.data(), 100, 10, table.data(), 10);
  });
  return cases.take();
}

// Promise: source[r][c] is added to table[d_index[r]][c] for r < rows and c < width; both
// are row-major, without gaps.
// Promise: any width from 1 on will do, and rows may be 0.
// Promise: rows of the table that no row is added to keep their numbers, -0.0 too.
TEST_CASE("beat_rows: every number of rows, at several widths and starts") {
  const std::size_t widths[] = {64, 8, 1, 32, 7, 96, 2, 130};
  std::size_t turn = 0;
  for (const std::size_t rows : course::kSizes) {
    for (int k = 0; k < 2; ++k, ++turn) {
      if (!is_tried()) continue;
      const std::size_t width = rows > 300 ? 8 + turn % 2 : widths[turn % std::size(widths)];
      const Shape s{rows, width, 11 + rows / 4, turn * 3 % 9, turn * 5 % 9, turn % 4};
      INFO(text_of(s, "whole numbers"));
      BeatRows answer;
      beat_rows_check::check(answer, s, spread(s));
    }
  }
}

// Promise: arrays are aligned to their elements, no more (MISALIGNED ACCESS).
TEST_CASE("beat_rows: packs of 16 bytes, and every start") {
  BeatRows answer;
  unsigned calls = 0;
  for (std::size_t start = 0; start < 9; ++start) {
    if (!is_tried()) continue;
    const Shape s{100, 64, 9, start, start, start % 4};
    INFO(text_of(s, "whole numbers") << "; call " << ++calls << " of one object");
    beat_rows_check::check(answer, s, spread(s));
  }
}

// Promise: several rows may have the same index, in any order (DATA RACE on d_table).
TEST_CASE("beat_rows: all rows into one, and each row into its own") {
  BeatRows answer;
  const Shape one{400, 64, 300}, own{300, 64, 300};
  INFO(text_of(one, "all into row 299"));
  beat_rows_check::check(answer, one, std::vector<int>(one.rows, 299));
  std::vector<int> back(own.rows);
  for (std::size_t r = 0; r < own.rows; ++r) back[r] = static_cast<int>(own.rows - 1 - r);
  INFO(text_of(own, "in the opposite order"));
  beat_rows_check::check(answer, own, back);
}

// Promise: a row may be wide, and rows and table_rows may exceed 2^16.
TEST_CASE("beat_rows: wide rows; many rows of the table; many rows of the source") {
  BeatRows answer;
  const bool again = course::has_run_before();
  for (const Shape& s : {Shape{5, 1032, 4}, Shape{4, 2500, 3, 1, 3}, Shape{3000, 2, 70'000},
                         Shape{70'000, 1, 2000}}) {
    if ((s.rows > 1000 && again) || !is_tried()) continue;
    INFO(text_of(s, "whole numbers"));
    beat_rows_check::check(answer, s, spread(s));
  }
}

// Promise: any width from 1 on, and any number of rows: no launch is refused (the CPU device runs no block of these).
TEST_CASE("beat_rows: rows of 2^25 halves, and 2^22 rows of one half") {
  if (course::has_run_before() || !is_tried()) return;
  for (const Shape& s : {Shape{1, (std::size_t{1} << 25) + 1, 1}, Shape{(1u << 22) + 5, 1, 1},
                         Shape{1, 1, (1u << 22) + 5}}) {
    INFO(text_of(s, "all are 0") << (course::kCpuDevice ? "; no block runs" : ""));
    const auto source = course::DeviceBuffer<__half>::zeros(s.rows * s.width);
    const auto index = course::DeviceBuffer<int>::zeros(s.rows);
    auto table = course::DeviceBuffer<__half>::zeros(s.table_rows * s.width);
    course::with_some_blocks(0, 0, [&] {
      BeatRows answer;
      answer(source.data(), index.data(), s.rows, s.width, table.data(), s.table_rows);
      CUDA_CHECK_LAUNCH();
    });
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}

// Promise: one object may be called again in the same stream, before the sums
// of the call before are there.
TEST_CASE("beat_rows: one object, called twice in a row, before the first sums are there") {
  const std::vector<__half> source(5000, __half(1.0f));
  const auto d_source = course::DeviceBuffer<__half>::from(source);
  const auto d_index = course::DeviceBuffer<int>::from(std::vector<int>(5000, 0));
  auto table = course::DeviceBuffer<__half>::zeros(3);
  BeatRows answer;
  answer(d_source.data(), d_index.data(), 500, 1, table.data(), 2);
  answer(d_source.data(), d_index.data(), 30, 1, table.data() + 2, 1);
  INFO("500 rows of one half into 2 rows, then 30 into one; all are 1");
  REQUIRE(course::same(beat_rows_check::floats(table.download()), {500, 0, 30}, "the three rows"));
}

// Promise: a call is in order with what the default stream does before and after it, without a wait (DATA RACE).
TEST_CASE("beat_rows: copies before and after a call, in the same stream") {
  const auto index = course::DeviceBuffer<int>::from(std::vector<int>(500, 0));
  INFO("500 rows of two halves, all 1, into one row, then 500 of 2"
       << challenge_checks::kBetweenCopies);
  BeatRows answer;
  const auto found = challenge_checks::between_copies(
      std::vector<__half>(1000, __half(1.0f)), std::vector<__half>(1000, __half(2.0f)),
      std::vector<__half>(2, __half(3.0f)),
      [&](const __half* source, __half* table) { answer(source, index.data(), 500, 2, table, 1); });
  REQUIRE(course::same(beat_rows_check::floats(found.first), {503, 503}, "the copy of d_table"));
  REQUIRE(course::same(beat_rows_check::floats(found.second), {1503, 1503}, "d_table"));
}

// Promise: the answer adds the rows that source holds now to the rows that d_index names now, not those
// of an earlier call.
TEST_CASE("beat_rows: one object, called again for the same arrays with other rows and indices") {
  constexpr std::size_t kRows = 300;
  auto source = course::DeviceBuffer<__half>::from(std::vector<__half>(kRows, __half(1.0f)));
  auto index = course::DeviceBuffer<int>::from(std::vector<int>(kRows, 0));
  auto table = course::DeviceBuffer<__half>::zeros(3);
  BeatRows answer;
  answer(source.data(), index.data(), kRows, 1, table.data(), 3);
  INFO("300 rows of one half, all 1, into row 0 of 3; in a second call the same index names row 2");
  index.upload(std::vector<int>(kRows, 2));
  answer(source.data(), index.data(), kRows, 1, table.data(), 3);
  REQUIRE(course::same(beat_rows_check::floats(table.download()), {300, 0, 300}, "the three rows"));
  INFO("in a third call the same source holds 2");
  source.upload(std::vector<__half>(kRows, __half(2.0f)));
  answer(source.data(), index.data(), kRows, 1, table.data(), 3);
  REQUIRE(course::same(beat_rows_check::floats(table.download()), {300, 0, 900}, "the three rows"));
}

// Promise: one object may be called again, with any shape, when the call before is done.
TEST_CASE("beat_rows: one object, called again with other shapes") {
  BeatRows answer;
  unsigned calls = 0;
  for (const Shape& s : {Shape{200, 64, 150}, Shape{33, 8, 400}, Shape{0, 64, 5}, Shape{500, 16, 3},
                         Shape{200, 64, 150}}) {
    if (!is_tried()) continue;
    INFO(text_of(s, "whole numbers") << "; call " << ++calls << " of one object");
    beat_rows_check::check(answer, s, spread(s));
  }
}

// Promise: sums that need rounding are as near as half additions in any order.
TEST_CASE("beat_rows: sums that are rounded are near the exact ones") {
  constexpr std::size_t kEach = 8;  // source rows to a row of the table
  const Shape s{8 * kEach, 64, 8};
  INFO(text_of(s, "all bits in use, 8 rows to each row of the table"));
  std::vector<int> index;
  std::vector<__half> source;
  std::vector<double> exact(s.table_rows * s.width, 0);
  for (std::size_t r = 0; r < s.rows; ++r) index.push_back(static_cast<int>(r % s.table_rows));
  for (std::size_t i = 0; i < s.rows * s.width; ++i) {
    source.push_back(__half(std::sin(static_cast<float>(i))));
    const auto to = static_cast<std::size_t>(index[i / s.width]);
    exact[to * s.width + i % s.width] += static_cast<double>(__half2float(source.back()));
  }
  // Any order of kEach additions to 0, each rounded to half, of numbers from -1 to 1.
  const double k = kEach * course::kHalfRoundoff;
  REQUIRE(course::close(beat_rows_check::added_to_zeros(s, source, index), exact,
                        k / (1 - k) * kEach, "d_table"));
}

// Promise: sums that need no rounding are exact, of any halves (all bits
// in use, subnormal ones, too).
TEST_CASE("beat_rows: numbers of every size") {
  const Shape s{60, 64, 60};
  INFO(text_of(s, "row r has numbers from 2^(r % 40 - 24) on, and is added to row r"));
  std::vector<int> index(60);
  std::iota(index.begin(), index.end(), 0);
  std::vector<__half> source;
  for (int i = 0; i < 60 * 64; ++i) {
    const float value = std::ldexp(1 + static_cast<float>(37 * i % 1024) / 1024, i / 64 % 40 - 24);
    source.push_back(__half(i % 2 == 0 ? value : -value));
  }
  REQUIRE(course::same(beat_rows_check::added_to_zeros(s, source, index),
                       beat_rows_check::floats(source), "d_table"));
}

// Promise: the table may have more than 2^32 halves (GPU only).
TEST_CASE("beat_rows: a table of more than 2^32 halves") {
  const Shape s{50, 64, (std::size_t{1} << 26) + 100};
  course::skip_without_memory(s.table_rows * s.width * sizeof(__half));
  INFO(text_of(s, "all are 1, for the last 50 rows"));
  std::vector<int> index(50);
  std::iota(index.begin(), index.end(), static_cast<int>(s.table_rows - 50));
  const std::vector<__half> source(50 * 64, __half(1.0f));
  std::vector<float> expected(100 * 64, 0.0f);
  std::fill(expected.begin() + 50 * 64, expected.end(), 1.0f);
  REQUIRE(course::same(beat_rows_check::added_to_zeros(s, source, index, s.table_rows - 100),
                       expected, "the last 100 rows of d_table"));
}

// Promise: there is at most one atomic per two halves.
// Promise: kernels read the rows, not the host.
TEST_CASE("beat_rows: better than one atomic per half") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  const Shape s{1024, 64, 100};
  INFO(text_of(s, "whole numbers"));
  BeatRows answer;
  const auto counters =
      course::count_shuffled([&] { beat_rows_check::check(answer, s, spread(s)); });
  // A compare-and-swap may fail, and is tried again.
  const std::uint64_t again = counters->global_compare_and_swaps / 3;
  REQUIRE(course::at_most(counters->global_atomic_lanes, s.rows * s.width / 2 + again,
                          "atomics on global memory", "an atomic can add more than one half"));
  REQUIRE(course::kernels_load(*counters, s.rows * s.width * sizeof(__half)));
  REQUIRE(
      course::work_is_shared(*counters, (counters->global_loads + counters->global_stores) / 4));
}

// Promise: an element of the table may be past 2^32 (only the last rows of the table are in memory).
TEST_CASE("beat_rows: rows of the table that begin past 2^32") {
  if (course::has_run_before()) return;
  constexpr std::size_t kWidth = 1 << 16, kTableRows = 65'600, kInMemory = 2;
  INFO("2 rows of 65536 halves into the last 2 of 65600 rows; all are 1");
  const auto source =
      course::DeviceBuffer<__half>::from(std::vector<__half>(kInMemory * kWidth, __half(1.0f)));
  const auto index = course::DeviceBuffer<int>::from({kTableRows - 1, kTableRows - 1});
  auto rows = course::DeviceBuffer<__half>::zeros(kInMemory * kWidth);
  BeatRows answer;
  answer(source.data(), index.data(), kInMemory, kWidth,
         rows.data() - (kTableRows - kInMemory) * kWidth, kTableRows);
  std::vector<float> expected(kInMemory * kWidth, 0.0f);
  std::fill(expected.begin() + kWidth, expected.end(), 2.0f);
  REQUIRE(course::same(beat_rows_check::floats(rows.download()), expected, "the last two rows"));
}

}  // namespace beat_rows_check
