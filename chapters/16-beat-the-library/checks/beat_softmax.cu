// Check of the challenge beat_softmax: rows of every length and start, numbers of every size, infinities and NaN, an
// object that is used again, more numbers than 32 bits count, and how often a number is read.
#include "beat_softmax.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "checks/challenge_cases.cuh"

namespace beat_softmax_check {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// ---- rows --------------------------------------------------------------------------------------

struct Shape {
  std::size_t rows, width;
};

/// What a message says of the numbers, and that of column c of row r: `random` is 1 to 1000.
struct Kind {
  std::string text;
  float (*number)(std::size_t r, std::size_t c, int random);
};

float some(int random) { return static_cast<float>(random - 500) / 125; }

const Kind kKinds[] = {
    {"from -4 to 4, in no order",
     [](std::size_t, std::size_t, int random) { return some(random); }},
    {"half of it is -infinity, the first three columns and more",
     [](std::size_t, std::size_t c, int random) {
       return random % 2 == 0 || c < 3 ? -kInfinity : some(random);
     }},
    {"10^6 + k / 16 with k from 0 to 31",
     [](std::size_t, std::size_t, int random) {
       return 1e6f + static_cast<float>(random % 32) / 16;
     }},
    {"10^30, 2 * 10^30 and -3 * 10^38",
     [](std::size_t, std::size_t, int random) {
       return random % 5 == 0 ? 2e30f : random % 3 == 0 ? 1e30f : -3e38f;
     }},
    {"about -300", [](std::size_t, std::size_t, int random) { return some(random) - 300; }},
    {"about 300", [](std::size_t, std::size_t, int random) { return some(random) + 300; }},
    {"it grows from column to column",
     [](std::size_t, std::size_t c, int) { return static_cast<float>(c) * 0.25f - 50; }},
    {"it falls from column to column",
     [](std::size_t, std::size_t c, int) { return static_cast<float>(c) * -0.25f + 100; }},
    {"all columns of a row are equal",
     [](std::size_t r, std::size_t, int) { return static_cast<float>(r % 10) * 33 - 70; }},
    {"all are -2 * 10^30", [](std::size_t, std::size_t, int) { return -2e30f; }},
    {"one in eight is 200, the others are from -4 to 4",
     [](std::size_t, std::size_t, int random) { return random % 8 == 0 ? 200.0f : some(random); }},
    {"from -80 to 80", [](std::size_t, std::size_t, int random) { return some(random) * 20; }},
    {"-0, and one in 32 is below -100",
     [](std::size_t, std::size_t, int random) {
       return random % 32 == 0 ? some(random) - 105 : -0.0f;
     }},
    {"one in eight is the lowest float, the others are -infinity",
     [](std::size_t, std::size_t, int random) {
       return random % 8 == 0 ? std::numeric_limits<float>::lowest() : -kInfinity;
     }},
};
const Kind& kSmall = kKinds[0];
const Kind& kWide = kKinds[10];

std::vector<float> numbers_of(const Shape& s, const Kind& kind) {
  const std::vector<int> random = course::position_values<int>(s.rows * s.width);
  std::vector<float> x(random.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = kind.number(i / s.width, i % s.width, random[i]);
  }
  return x;
}

std::string text_of(const Shape& s, const std::string& kind, std::size_t x = 0, std::size_t y = 0) {
  return course::counted(s.rows, "row") + " of " + std::to_string(s.width) + ": " + kind +
         "; x begins " + std::to_string(4 * x) + " and y " + std::to_string(4 * y) +
         " bytes after a multiple of 64";
}

// ---- softmax -----------------------------------------------------------------------------------

constexpr float kBefore = 7;  // what y holds before a call
enum class Rows { all, written };

/// Ok if each number is as near to the softmax in double as the contract says. The sum of a row in any order of the
/// additions is within width * 2^-24 of the exact one; exp() and the quotient have the rest. Rows::written leaves out
/// the rows that no block has written: those of blocks that do not run.
course::Verdict is_softmax(const Shape& s, const std::vector<float>& x, const std::vector<float>& y,
                           Rows rows = Rows::all) {
  const double relative = 1e-4 + static_cast<double>(s.width) * course::kFloatRoundoff;
  for (std::size_t r = 0; r < s.rows; ++r) {
    const float* const row = x.data() + r * s.width;
    const auto y_of_row = y.begin() + static_cast<std::ptrdiff_t>(r * s.width);
    const auto untouched =
        std::count(y_of_row, y_of_row + static_cast<std::ptrdiff_t>(s.width), kBefore);
    if (rows == Rows::written && static_cast<std::size_t>(untouched) == s.width) continue;
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t c = 0; c < s.width; ++c) max = std::fmax(max, static_cast<double>(row[c]));
    for (std::size_t c = 0; c < s.width; ++c) sum += std::exp(static_cast<double>(row[c]) - max);
    const auto row_text = [&] {
      return course::elements_text("d_x", x, r * s.width, (r + 1) * s.width) +
             "; the sum of d_y in this row is " +
             course::number_text(
                 std::accumulate(y_of_row, y_of_row + static_cast<std::ptrdiff_t>(s.width), 0.0));
    };
    for (std::size_t c = 0; c < s.width; ++c) {
      const std::size_t i = r * s.width + c;
      const double exact = std::exp(static_cast<double>(row[c]) - max) / sum;
      const std::string name = "d_y[" + std::to_string(i) + "], column " + std::to_string(c) +
                               " of row " + std::to_string(r);
      if (std::isnan(exact)) {  // as the sum is
        if (std::isnan(y[i])) continue;
        return {false,
                name + ": expected NaN, found " + course::number_text(y[i]) + "; " + row_text()};
      }
      const double tolerance = relative * exact + 1e-12;
      if (std::fabs(static_cast<double>(y[i]) - exact) <= tolerance) continue;
      return course::close(static_cast<double>(y[i]), exact, tolerance, name, row_text());
    }
  }
  return {};
}

/// Returns y.
std::vector<float> check(BeatSoftmax& answer, const Shape& s, const std::vector<float>& x,
                         std::size_t offset_x, std::size_t offset_y, Rows rows = Rows::all) {
  const course::Placed<float> d_x(x, offset_x);
  course::Placed<float> y(std::vector<float>(x.size(), kBefore), offset_y);
  answer(d_x.data(), s.rows, s.width, y.data());
  std::vector<float> found = y.download();
  REQUIRE(is_softmax(s, x, found, rows));
  REQUIRE(y.intact("d_y"));
  return found;
}

/// x of a row of 2^15 is 0, but 1 in column r % 2^15 of row r.
constexpr std::size_t kColumns = std::size_t{1} << 15;

__global__ void fill_rows(float* d_x, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    d_x[i] = i % kColumns == i / kColumns % kColumns ? 1.0f : 0.0f;
  }
}

__global__ void count_wrong_quotients(const float* d_y, std::size_t n, float one, float others,
                                      unsigned long long* d_wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const float exact = i % kColumns == i / kColumns % kColumns ? one : others;
    if (!(fabsf(d_y[i] - exact) <= 2.1e-3f * exact)) atomicAdd(d_wrong, 1ull);
  }
}

/// Of an answer that is slow here, some of the cases are tried.
bool is_tried() {
  return challenge_checks::is_tried<float>([](const float* d_x, std::size_t n) {
    course::DeviceBuffer<float> y(n);
    BeatSoftmax{}(d_x, n / 100, 100, y.data());
  });
}

// Promise: row r of y becomes the softmax of row r of x. Each y is within 10^-4 + width * 2^-24 of its exact value,
// relatively, or within 10^-12.
// Promise: nothing else is written (OUT OF BOUNDS; on a GPU the guard bands show it).
// Promise: d_x and d_y are aligned to floats, no more (MISALIGNED ACCESS).
// Promise: -infinity becomes 0.
TEST_CASE("beat_softmax: rows of every length, at several starts") {
  std::size_t turn = 0;
  for (const std::size_t width :
       {1u,   2u,   3u,   4u,   16u,  31u,  32u,  33u,   63u,   64u,   65u,  100u,
        127u, 128u, 129u, 255u, 256u, 257u, 500u, 1000u, 1023u, 1024u, 1025u}) {
    for (int k = 0; k < 2; ++k, ++turn) {
      if (!is_tried()) continue;
      const Shape s{width > 200 ? 3 : 5 + turn % 9, width};
      const Kind& kind = kKinds[turn % std::size(kKinds)];
      const std::size_t offset_x = turn % 2 ? turn * 5 % 16 : 0;  // many loads are wide at 0
      const std::size_t offset_y = turn % 4 < 2 ? (turn * 3 + turn / 4 + 1) % 16 : 0;
      INFO(text_of(s, kind.text, offset_x, offset_y));
      BeatSoftmax answer;
      beat_softmax_check::check(answer, s, numbers_of(s, kind), offset_x, offset_y);
    }
  }
}

// Promise: d_x and d_y are aligned to floats: a row that fills the packs of a block may begin within one, and end in
// one more.
TEST_CASE("beat_softmax: rows of 2^8 to 2^14, between two packs") {
  if (course::kCpuDevice && course::has_run_before()) return;
  for (std::size_t width = 256; width <= std::size_t{1} << 14; width *= 2) {
    for (const std::size_t offset : {1u, 3u}) {
      if (!is_tried()) continue;
      const Shape s{1, offset == 1 ? width : width - 2};
      INFO(text_of(s, kSmall.text, offset, offset));
      BeatSoftmax answer;
      beat_softmax_check::check(answer, s, numbers_of(s, kSmall), offset, offset);
    }
  }
}

// Promise: x is any float.
TEST_CASE("beat_softmax: every kind of numbers") {
  BeatSoftmax answer;
  for (const Shape& s : {Shape{6, 40}, Shape{3, 1300}}) {
    for (const Kind& kind : kKinds) {
      if (!is_tried()) continue;
      INFO(text_of(s, kind.text));
      beat_softmax_check::check(answer, s, numbers_of(s, kind), 0, 0);
    }
  }
}

/// Whether a call is one launch, of which a few blocks may run alone: no other launch needs what the others leave.
bool is_one_launch() {
  constexpr std::size_t kRows = 64;
  const auto d_x = course::DeviceBuffer<float>::zeros(kRows);
  course::DeviceBuffer<float> y(kRows);
  const auto counters = course::count([&] { BeatSoftmax{}(d_x.data(), kRows, 1, y.data()); });
  return counters && counters->launches == 1;
}

/// How many blocks the launch of an answer has for so many rows. No block runs: there is no memory for the rows.
std::uint64_t blocks_for(std::size_t rows, std::size_t width = 1) {
  const auto d_x = course::DeviceBuffer<float>::zeros(1);
  course::DeviceBuffer<float> y(1);
  std::optional<course::Counters> counters;
  course::with_some_blocks(0, 0, [&] {
    counters = course::count([&] { BeatSoftmax{}(d_x.data(), rows, width, y.data()); });
  });
  return counters->blocks;
}

/// Checks the rows of a few blocks of each grid.
void check_some_blocks(const Shape& s, std::uint64_t first, std::uint64_t last) {
  INFO(text_of(s, kWide.text, 1, 0)
       << "; of each grid the first " << first << " and the last " << last << " blocks run");
  std::vector<float> y;
  course::with_some_blocks(first, last, [&] {
    BeatSoftmax answer;
    y = beat_softmax_check::check(answer, s, numbers_of(s, kWide), 1, 0, Rows::written);
  });
  if (last > 0 || s.width > 1) return;
  const std::uint64_t blocks = blocks_for(s.rows);
  INFO("the grid has " << blocks << " blocks");
  const auto untouched = static_cast<std::size_t>(std::count(y.begin(), y.end(), kBefore));
  REQUIRE(course::at_least(s.rows - untouched, first * s.rows / blocks / 4,
                           "rows that the first " + std::to_string(first) + " blocks have written",
                           "the grid has a block for " + std::to_string(s.rows / blocks) +
                               " rows, and a quarter of that is asked for"));
}

/// Checks that no launch is refused.
void check_launches(const Shape& s) {
  INFO(text_of(s, kWide.text) << "; no block runs");
  const auto d_x = course::DeviceBuffer<float>::zeros(s.rows * s.width);
  course::DeviceBuffer<float> y(d_x.size());
  course::with_some_blocks(0, 0, [&] {
    BeatSoftmax answer;
    answer(d_x.data(), s.rows, s.width, y.data());
    CUDA_CHECK_LAUNCH();
  });
}

constexpr std::size_t kManyRows = 9000;

/// More rows than the grid of an answer has room for at once, or kManyRows.
std::size_t rows_for_two_turns() {
  constexpr std::uint64_t kFew = 64, kWarps = 32;
  const std::uint64_t few = blocks_for(kFew), most = blocks_for(kManyRows);
  // A grid that is the same for any number of rows may have one for each warp.
  const std::uint64_t rows_of_block = few > kFew ? kWarps : (kFew + few - 1) / few;
  return std::min<std::size_t>(kManyRows, most * rows_of_block + 17);
}

/// How many of kManyRows rows the last two blocks of a call write, if these are the last rows; 0 if they are not.
std::size_t rows_of_last_blocks(std::size_t width) {
  const Shape s{kManyRows, width};
  INFO(text_of(s, kWide.text, 1, 0) << "; of each grid the last 2 blocks run");
  std::vector<float> y;
  course::with_some_blocks(0, 2, [&] {
    BeatSoftmax answer;
    y = beat_softmax_check::check(answer, s, numbers_of(s, kWide), 1, 0, Rows::written);
  });
  const auto is_written = [](float value) { return value != kBefore; };
  const auto first = std::find_if(y.begin(), y.end(), is_written);
  if (!std::all_of(first, y.end(), is_written)) return 0;
  return static_cast<std::size_t>(y.end() - first) / width;
}

/// Checks the last of more than 2^27 rows; those before are not in memory.
void check_last_rows() {
  constexpr std::size_t kRows = (std::size_t{1} << 27) + 5, kWidth = 40;
  const std::size_t of_two_blocks = rows_of_last_blocks(kWidth);
  // The grid may have a limit: the last blocks have other rows, too, then.
  if (blocks_for(kRows, kWidth) * of_two_blocks / 2 < kRows) return;
  const Shape s{4 * of_two_blocks, kWidth};
  INFO(course::counted(kRows, "row")
       << " of " << kWidth << ": " << kWide.text
       << "; of the grid the last 2 blocks run, and memory is there for "
          "the last "
       << course::counted(s.rows, "row"));
  const std::vector<float> x = numbers_of(s, kWide);
  const course::Placed<float> d_x(x, 0);
  course::Placed<float> y(std::vector<float>(x.size(), kBefore), 0);
  const std::size_t before = kRows * kWidth - x.size();
  course::with_some_blocks(0, 2, [&] {
    BeatSoftmax answer;
    answer(d_x.data() - before, kRows, kWidth, y.data() - before);
  });
  const std::vector<float> found = y.download();
  REQUIRE(is_softmax(s, x, found, Rows::written));
  REQUIRE(y.intact("d_y"));
  const auto untouched =
      static_cast<std::size_t>(std::count(found.end() - kWidth, found.end(), kBefore));
  REQUIRE(course::at_least(kWidth - untouched, kWidth,
                           "numbers of the last row that the last 2 blocks have written"));
}

// Promise: rows may be any number: a block may have several; there may be more rows, or more groups of rows, than a grid
// has blocks along y. (Where a call is one launch, and twice as many rows have twice as many blocks, or one less, the CPU
// device runs a few of these; of an answer with several launches, none but those for up to 9000 rows.)
TEST_CASE("beat_softmax: more rows than blocks of one row are resident") {
  if (course::has_run_before() || !is_tried()) return;
  const bool has_one = is_one_launch();
  const bool grows = has_one && blocks_for(kManyRows) + 1 >= 2 * blocks_for(kManyRows / 2);
  const std::size_t two_turns = has_one ? rows_for_two_turns() : kManyRows;
  for (const Shape& s :
       {Shape{grows ? kManyRows : two_turns, 20}, Shape{70'000, 3}, Shape{(1u << 21) + 5, 1}}) {
    if (grows && s.rows >= kManyRows) {
      check_some_blocks(s, 16, s.rows == kManyRows ? 16 : 0);
    } else if (course::kCpuDevice && s.rows > kManyRows) {
      check_launches(s);
    } else {
      INFO(text_of(s, kWide.text, 1, 0));
      BeatSoftmax answer;
      beat_softmax_check::check(answer, s, numbers_of(s, kWide), 1, 0);
    }
  }
  if (grows) check_last_rows();
}

// Promise: the same of rows that a warp or a block takes as a whole.
TEST_CASE("beat_softmax: 1100 rows of 300 numbers") {
  if (course::has_run_before() || !is_tried()) return;
  const Shape s{1100, 300};
  INFO(text_of(s, kWide.text, 1, 0));
  BeatSoftmax answer;
  beat_softmax_check::check(answer, s, numbers_of(s, kWide), 1, 0);
}

// Promise: the maximum may be in any column.
TEST_CASE("beat_softmax: one number of each row has almost all of the sum") {
  BeatSoftmax answer;
  for (const Shape& s : {Shape{24, 70}, Shape{4, 1027}, Shape{4, 2048}}) {
    for (const float others : {-30.0f, -kInfinity}) {
      if (!is_tried()) continue;
      std::vector<float> x(s.rows * s.width, others);
      for (std::size_t r = 0; r < s.rows; ++r) {
        x[r * s.width + (s.width - 1) * r / (s.rows - 1)] = 5.0f;
        x[r * s.width + (r * 29 + 1) % s.width] = 4.0f;
      }
      INFO(text_of(s, "5 and 4, the others are " + course::number_text(others)));
      beat_softmax_check::check(answer, s, x, 0, 0);
    }
  }
}

// Promise: a row with NaN or +infinity becomes NaN as a whole, and so does one with nothing but -infinity.
TEST_CASE("beat_softmax: rows with NaN and infinities") {
  BeatSoftmax answer;
  for (const std::size_t width : {2u, 40u, 300u, 1024u}) {
    if (!is_tried()) continue;
    const Shape s{8, width};
    std::vector<float> x = numbers_of(s, kSmall);
    const auto at = [&](std::size_t r, std::size_t c) -> float& { return x[r * width + c]; };
    for (std::size_t c = 0; c < width; ++c) at(1, c) = at(2, c) = at(3, c) = -kInfinity;
    at(0, width / 2) = kNan;
    at(2, width - 1) = kNan;
    at(3, 0) = -1e30f;
    at(4, width - 1) = kInfinity;
    at(5, 0) = kInfinity, at(5, 1) = -kInfinity;
    at(6, 0) = kNan, at(6, 1) = 1e30f;
    INFO(
        text_of(s,
                "row 0 has a NaN, row 1 is -infinity, row 2, too, but a NaN, row 3, too, but "
                "-10^30, rows 4 and 5 have +infinity, row 6 has NaN and 10^30, row 7 has neither"));
    beat_softmax_check::check(answer, s, x, 0, 0);
  }
  if (!is_tried()) return;
  INFO(text_of({2, 1}, "-infinity; NaN"));
  beat_softmax_check::check(answer, {2, 1}, {-kInfinity, kNan}, 0, 0);
}

// Promise: a row may be -infinity for all that a thread, a warp or a block has of it, but for a NaN or +infinity.
TEST_CASE("beat_softmax: rows of -infinity, but for one number and one NaN or infinity") {
  if (course::kCpuDevice && course::has_run_before()) return;
  for (const Shape& s : {Shape{40, 301}, Shape{6, 2048}, Shape{3, 12'001}}) {
    if (!is_tried()) continue;
    std::vector<float> x(s.rows * s.width, -kInfinity);
    for (std::size_t r = 0; r < s.rows; ++r) {
      const std::size_t column =
          (s.width - 1) * r / (s.rows - 1);  // the first and the last one, too
      x[r * s.width + column] = r % 2 == 0 ? kNan : kInfinity;
      x[r * s.width + (column + s.width / 2) % s.width] = 1.0f;
    }
    INFO(text_of(s,
                 "-infinity, but NaN (even rows) or +infinity (odd rows) in one column, and 1 in "
                 "another, half a row away"));
    BeatSoftmax answer;
    beat_softmax_check::check(answer, s, x, 0, 0);
  }
}

/// Calls of one object with these shapes. `kind_of(calls)` has the numbers for a call after so many calls.
template <class KindOf>
void check_shapes(const std::vector<Shape>& shapes, KindOf kind_of) {
  BeatSoftmax answer;
  unsigned calls = 0;
  for (const Shape& s : shapes) {
    if (!is_tried()) continue;
    const Kind& kind = kind_of(calls);
    INFO("call " << ++calls << " of one object; " << text_of(s, kind.text));
    beat_softmax_check::check(answer, s, numbers_of(s, kind), 0, 0);
  }
}

// Promise: one object may be called again, with any shape, when the call before is done.
// Promise: rows and width may be 0.
TEST_CASE("beat_softmax: one object, called again with other shapes") {
  check_shapes(
      {{2, 33}, {500, 1}, {0, 10}, {60, 32}, {3, 0}, {1, 5000}, {130, 31}, {1, 1}, {2, 4096}},
      [](unsigned calls) -> const Kind& { return kKinds[calls % 3 * 2]; });
}

// Promise: one object may be called again with the same shape, and arrays that begin elsewhere.
TEST_CASE("beat_softmax: one object, called again with arrays that begin elsewhere") {
  if (course::kCpuDevice && course::has_run_before()) return;
  BeatSoftmax answer;
  unsigned calls = 0;
  for (const std::size_t width : {64u, 2048u}) {
    for (const std::size_t offset : {0u, 1u, 0u, 2u}) {
      if (!is_tried()) continue;
      const Shape s{2, width};
      const std::size_t offset_x = width == 64 ? offset : 0;  // of both, and of y alone
      INFO("call " << ++calls << " of one object; " << text_of(s, kSmall.text, offset_x, offset));
      beat_softmax_check::check(answer, s, numbers_of(s, kSmall), offset_x, offset);
    }
  }
}

// Promise: y is the softmax of what x holds now, not of what it held in an earlier call.
// Promise: d_y may hold anything before.
TEST_CASE("beat_softmax: one object, called again for the same arrays with other numbers") {
  if (!is_tried()) return;
  const Shape s{5, 90};
  INFO(text_of(s, kWide.text) << "; in a second call the same array holds: " << kSmall.text);
  auto x = course::DeviceBuffer<float>::from(numbers_of(s, kWide));
  course::GuardedBuffer<float> y(s.rows * s.width);
  BeatSoftmax answer;
  answer(x.data(), s.rows, s.width, y.data());
  const std::vector<float> other = numbers_of(s, kSmall);
  x.upload(other);
  answer(x.data(), s.rows, s.width, y.data());
  REQUIRE(is_softmax(s, other, y.download()));
}

// Promise: one object may be called again in the same stream, before the rows of the call before are there.
TEST_CASE("beat_softmax: one object, called twice in a row, before the first rows are there") {
  if (!is_tried()) return;
  const Shape wide{2, 3000}, narrow{30, 10};
  INFO(text_of(wide, kSmall.text) << "; then " << text_of(narrow, kWide.text));
  const std::vector<float> first = numbers_of(wide, kSmall), second = numbers_of(narrow, kWide);
  const auto d_first = course::DeviceBuffer<float>::from(first);
  const auto d_second = course::DeviceBuffer<float>::from(second);
  course::GuardedBuffer<float> y_first(first.size()), y_second(second.size());
  BeatSoftmax answer;
  answer(d_first.data(), wide.rows, wide.width, y_first.data());
  answer(d_second.data(), narrow.rows, narrow.width, y_second.data());
  REQUIRE(is_softmax(wide, first, y_first.download()));
  REQUIRE(is_softmax(narrow, second, y_second.download()));
}

// Promise: a call is in order with what the default stream does before and after it, without a wait (DATA RACE).
TEST_CASE("beat_softmax: copies before and after a call, in the same stream") {
  if (!is_tried()) return;
  const Shape s{3, 1000};
  INFO(text_of(s, kSmall.text) << ", then " << kWide.text << challenge_checks::kBetweenCopies);
  const std::vector<float> first = numbers_of(s, kSmall), second = numbers_of(s, kWide);
  BeatSoftmax answer;
  const auto found = challenge_checks::between_copies(
      first, second, std::vector<float>(first.size(), 7.0f),
      [&](const float* x, float* y) { answer(x, s.rows, s.width, y); });
  REQUIRE(is_softmax(s, first, found.first));
  REQUIRE(is_softmax(s, second, found.second));
}

// Promise: a row may be of any length.
// Promise: one object may be called again, with any shape (long rows may be divided into any number of parts).
TEST_CASE("beat_softmax: long rows") {
  if (course::kCpuDevice && course::has_run_before()) return;
  // Relative to what comes first, each element fits a float, and the sum does not.
  const Kind late{"0 in the first 64 columns, and 79.5 or 87.5 in all others",
                  [](std::size_t r, std::size_t c, int) {
                    return c < 64 ? 0.0f : r == 0 ? 79.5f : 87.5f;
                  }};
  BeatSoftmax answer;
  unsigned calls = 0;
  for (const Shape& s :
       {Shape{1, 100'003}, Shape{1, std::size_t{1} << 15}, Shape{2, 20'000}, Shape{1, 12'288}}) {
    const Kind& kind = s.rows == 2 ? late : kSmall;
    const std::size_t offset_x = s.width % 2 ? 3 : s.width >> 15;
    INFO("call " << ++calls << " of one object; " << text_of(s, kind.text, offset_x, 0));
    beat_softmax_check::check(answer, s, numbers_of(s, kind), offset_x, 0);
  }
}

// Promise: -infinity becomes 0, also where a part of a long row has nothing else.
TEST_CASE("beat_softmax: long rows that are -infinity in one part") {
  if (course::kCpuDevice && course::has_run_before()) return;
  const Kind kMasked[] = {
      {"-infinity in the first half, small in the second",
       [](std::size_t, std::size_t c, int random) {
         return c < 10'000 ? -kInfinity : some(random);
       }},
      {"small in the first 100 columns, -infinity in the others",
       [](std::size_t, std::size_t c, int random) { return c < 100 ? some(random) : -kInfinity; }},
      {"-infinity in the columns from 5000 to 14999, small in the others",
       [](std::size_t, std::size_t c, int random) {
         return c >= 5000 && c < 15'000 ? -kInfinity : some(random);
       }}};
  for (const Kind& kind : kMasked) {
    if (!is_tried()) continue;
    const Shape s{2, 20'000};
    INFO(text_of(s, kind.text));
    BeatSoftmax answer;
    beat_softmax_check::check(answer, s, numbers_of(s, kind), 0, 0);
  }
}

// Promise: one object may be called again, with any shape: as many rows, which are longer or shorter, and more rows.
TEST_CASE("beat_softmax: one object, called again with longer and shorter rows, and with more") {
  if (course::kCpuDevice && course::has_run_before()) return;
  const std::vector<Shape> shapes = {{2, 9000},   {2, 66'000}, {9, 9000}, {2, 66'000},
                                     {2, 16'384}, {2, 8192},   {2, 5000}, {2, 4097}};
  check_shapes(shapes, [](unsigned) -> const Kind& { return kSmall; });
}

// Promise: one object may be called again, with any shape: long rows after fewer and longer ones.
TEST_CASE("beat_softmax: one object, called again with more and shorter long rows") {
  if (course::kCpuDevice && course::has_run_before()) return;
  check_shapes({{5, 9000}, {1, 20'000}, {5, 9000}},
               [](unsigned calls) -> const Kind& { return calls == 2 ? kWide : kSmall; });
}

// Promise: rows * width may exceed 2^32 (GPU only).
TEST_CASE("beat_softmax: more than 2^32 numbers") {
  constexpr std::size_t rows = (std::size_t{1} << 17) + 5, n = rows * kColumns;
  course::skip_without_memory(2 * n * sizeof(float));
  INFO("2^17 + 5 rows of 2^15: 1 in one column, another one in each row, and 0 in the others");
  course::DeviceBuffer<float> x(n);
  course::launch(fill_rows, {4096, 256}, x.data(), n);
  course::GuardedBuffer<float> y(n);
  auto wrong = course::DeviceBuffer<unsigned long long>::zeros(1);
  BeatSoftmax answer;
  answer(x.data(), rows, kColumns, y.data());
  const double sum = std::exp(1.0) + static_cast<double>(kColumns - 1);
  course::launch(count_wrong_quotients, {4096, 256}, y.data(), n,
                 static_cast<float>(std::exp(1.0) / sum), static_cast<float>(1 / sum),
                 wrong.data());
  REQUIRE(course::same(wrong.front(), 0ull, "elements of y that are wrong"));
  REQUIRE(y.intact("d_y"));
}

// Promise: rows may be more than 2^27, and their threads more than 2^32 (GPU only).
TEST_CASE("beat_softmax: more than 2^27 rows") {
  constexpr std::size_t rows = (std::size_t{1} << 27) + 5;
  course::skip_without_memory(2 * rows * sizeof(float));
  INFO("2^27 + 5 rows of one number");
  const auto x = course::DeviceBuffer<float>::zeros(rows);
  course::GuardedBuffer<float> y(rows);
  BeatSoftmax answer;
  answer(x.data(), rows, 1, y.data());
  REQUIRE(course::same(y.download(), std::vector<float>(rows, 1.0f), "d_y"));
  REQUIRE(y.intact("d_y"));
}

// Promise: kernels read each number twice at most, and more than one block works. A quarter more is allowed, for what an
// answer needs beside it.
// Promise: kernels read the numbers, not the host.
TEST_CASE("beat_softmax: at most two reads of each number") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr Shape s{64, 512};
  INFO(text_of(s, kSmall.text));
  const auto d_x = course::DeviceBuffer<float>::from(numbers_of(s, kSmall));
  course::DeviceBuffer<float> y(d_x.size());
  BeatSoftmax answer;
  const auto counters =
      course::count_shuffled([&] { answer(d_x.data(), s.rows, s.width, y.data()); });
  REQUIRE(course::kernels_load(*counters, d_x.bytes()));
  REQUIRE(course::at_most(counters->global_load_sectors, d_x.bytes() / 32 * 2 * 5 / 4,
                          "sectors of 32 bytes that are loaded",
                          "lanes load neighbours, and each number is read twice at most; a loop "
                          "that names x[c] twice loads it twice here"));
  const auto requests = counters->global_loads + counters->global_stores;
  REQUIRE(course::at_most(counters->busiest_block_requests, requests * 3 / 4,
                          "loads and stores of global memory by the busiest block",
                          "other SMs are idle while one block works: share the rows"));
}

}  // namespace beat_softmax_check
