// Check of the exercise block_argmax: rows of every length, every block of whole warps, ties, NaN,
// and several rows for each block.
#include "block_argmax.cuh"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace block_argmax_check {

using Launch = course::LaunchShape;

// ---- matrices -----------------------------------------------------------------------------------

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// A kind of data: the element in row r and column c, where `random` is 1 to 1000.
struct Kind {
  std::string text;
  float (*element)(unsigned r, unsigned c, int random);
};

/// All elements of a row differ: multiples of a number that has no factor in common with 4093.
float distinct(unsigned r, unsigned c) { return static_cast<float>((c * 1021u + r * 37u) % 4093u); }

const Kind kDistinct{"no two alike", [](unsigned r, unsigned c, int) { return distinct(r, c); }};
const Kind kBelowZero{"all below zero",
                      [](unsigned r, unsigned c, int) { return -5.0f - distinct(r, c); }};
const Kind kTies{"the largest number occurs several times", [](unsigned, unsigned, int random) {
                   return random % 8 == 0 ? 7.0f : static_cast<float>(random % 7);
                 }};
const Kind kFalling{"the largest one comes first",
                    [](unsigned, unsigned c, int) { return -static_cast<float>(c); }};
const Kind kNanAmong{"some are NaN", [](unsigned r, unsigned c, int random) {
                       return random % 3 != 0 ? course::any_nan(c) : -distinct(r, c);
                     }};
const Kind kNanOnly{"every other row is nothing but NaN", [](unsigned r, unsigned c, int) {
                      return r % 2 == 0 ? course::any_nan(r / 2 + c) : -distinct(r, c);
                    }};
const Kind kKinds[] = {
    kDistinct,
    kBelowZero,
    kTies,
    {"all are equal", [](unsigned r, unsigned, int) { return static_cast<float>(r); }},
    {"the largest one comes last",
     [](unsigned, unsigned c, int) { return static_cast<float>(c) - 100.0f; }},
    kFalling,
    kNanAmong,
    kNanOnly,
    {"-infinity and NaN",
     [](unsigned, unsigned c, int random) {
       return random % 4 == 0 ? -kInfinity : course::any_nan(c);
     }},
    {"the lowest float, -infinity and NaN",
     [](unsigned, unsigned c, int random) {
       return random % 8 == 0   ? std::numeric_limits<float>::lowest()
              : random % 2 == 0 ? -kInfinity
                                : course::any_nan(c);
     }},
};

struct Matrix {
  std::string text;  // what a message says of its elements
  unsigned rows, columns;
  std::vector<float> x;
};

Matrix matrix(const Kind& kind, unsigned rows, unsigned columns) {
  Matrix m{kind.text, rows, columns, {}};
  const std::vector<int> random = course::position_values<int>(std::size_t{rows} * columns);
  for (unsigned r = 0; r < rows; ++r) {
    for (unsigned c = 0; c < columns; ++c) m.x.push_back(kind.element(r, c, random[m.x.size()]));
  }
  return m;
}

// ---- the right answer ---------------------------------------------------------------------------

/// What block_argmax writes.
struct Answer {
  std::vector<float> best;
  std::vector<unsigned> where;
};

Answer reference(const Matrix& m) {
  Answer answer;
  for (unsigned r = 0; r < m.rows; ++r) {
    float best = -kInfinity;
    unsigned where = m.columns;
    for (unsigned c = 0; c < m.columns; ++c) {
      const float value = m.x[std::size_t{r} * m.columns + c];
      if (std::isnan(value)) continue;
      if (where == m.columns || value > best) {
        best = value;
        where = c;
      }
    }
    answer.best.push_back(best);
    answer.where.push_back(where);
  }
  return answer;
}

/// What row r's result is computed from: "x[300..599], of which x[417] = 3 is the largest number".
std::string row_text(const Matrix& m, std::size_t r, unsigned where) {
  const std::size_t first = r * m.columns;
  if (m.columns == 0) return "a row without columns";
  const std::string row =
      "x[" + std::to_string(first) + ".." + std::to_string(first + m.columns - 1) + "]";
  if (where == m.columns) return row + ", which are all NaN";
  return row + ", of which " + course::elements_text("x", m.x, first + where, first + where + 1) +
         ", column " + std::to_string(where) + ", is the first of the largest numbers";
}

// ---- launches -----------------------------------------------------------------------------------

std::string describe(const Matrix& m, Launch launch) {
  return course::counted(m.rows, "row") + " of " + course::counted(m.columns, "column") + ": " +
         m.text + "; " + course::launch_text("block_argmax", launch);
}

/// `start`: elements after a multiple of 64 bytes. From 1 on four elements could never be one load.
void check_launch(const Matrix& m, Launch launch, std::size_t start = 1) {
  INFO(describe(m, launch));
  const course::Placed<float> d_x(m.x, start);
  course::GuardedBuffer<float> best(m.rows);
  course::GuardedBuffer<unsigned> where(m.rows);
  course::launch(block_argmax, {launch.grid, launch.block}, d_x.data(), m.rows, m.columns,
                 best.data(), where.data());
  const Answer expected = reference(m);
  const auto inputs = [&](std::size_t r) { return row_text(m, r, expected.where[r]); };
  REQUIRE(course::same(best.download(), expected.best, "best", inputs));
  REQUIRE(course::same(where.download(), expected.where, "where", inputs));
  REQUIRE(best.intact("best"));
  REQUIRE(where.intact("where"));
}

/// The last two rows of 32 columns, of more than 2^32 elements.
void check_end() {
  constexpr unsigned kColumns = 32;
  const Matrix last = matrix(kDistinct, 2, kColumns);
  const auto d_x = course::DeviceBuffer<float>::from(last.x);
  course::GuardedBuffer<float> best(2);
  course::GuardedBuffer<unsigned> where(2);
  INFO(describe({kDistinct.text, course::kHugeGrid.grid, kColumns, {}}, course::kHugeGrid));
  course::at_end_of_huge_grid([&](Launch grid, std::size_t) {
    const unsigned rows = grid.grid;
    const float* const all = d_x.data() - std::size_t{rows - 2} * kColumns;
    float* const all_best = best.data() - (rows - 2);
    unsigned* const all_where = where.data() - (rows - 2);
    course::launch(block_argmax, {grid.grid, grid.block}, all, rows, kColumns, all_best, all_where);
    const Answer expected = reference(last);
    REQUIRE(course::same(best.download(), expected.best, "(best + 134217727)"));
    REQUIRE(course::same(where.download(), expected.where, "(where + 134217727)"));
  });
}

// Promise: best[r] is row r's largest element, and where[r] its column.
// Promise: NaN counts as missing, a row without a number gives -infinity and where[r] == columns,
// and -infinity is a number.
// Promise: launches give no dynamic shared memory (OUT OF BOUNDS in every test case).
// Promise: x is aligned to 4 bytes, no more (MISALIGNED ACCESS in every test case).
TEST_CASE("block_argmax: a row for each block, every kind of data") {
  for (const unsigned block : {32u, 96u, 256u}) {
    for (const Kind& kind : kKinds) check_launch(matrix(kind, 4, 300), {4, block});
  }
}

// Promise: a row has any number of columns, less or more than a block has threads.
TEST_CASE("block_argmax: rows of every length") {
  std::size_t turn = 0;
  for (const unsigned columns : {1u, 2u, 31u, 32u, 33u, 95u, 255u, 256u, 257u, 1023u, 1025u}) {
    for (const unsigned block : {64u, 1024u}) {
      check_launch(matrix(kKinds[turn++ % std::size(kKinds)], 2, columns), {2, block});
    }
  }
}

// Promise: the kernel is right for blocks of 32, 64, ..., 1024 threads.
TEST_CASE("block_argmax: every block of whole warps") {
  for (unsigned block = 32; block <= 1024; block += 32) {
    for (const Kind& kind : {kBelowZero, kTies}) {
      check_launch(matrix(kind, 1, block + 3), {1, block});
    }
  }
}

// Promise: a grid may have fewer blocks than rows.
TEST_CASE("block_argmax: several rows for each block") {
  for (const Launch launch : {Launch{1, 32}, Launch{1, 160}, Launch{3, 96}, Launch{2, 512}}) {
    for (const Kind& kind : {kFalling, kDistinct, kNanOnly}) {
      check_launch(matrix(kind, 7, 200), launch);
    }
  }
}

// Promise: a grid may have more blocks than rows.
// Promise: a row without a column gives -infinity and where[r] == columns.
TEST_CASE("block_argmax: more blocks than rows, and no columns") {
  check_launch(matrix(kDistinct, 2, 50), {5, 64});
  check_launch({"nothing", 3, 0, {}}, {3, 64});
}

// Promise: the largest element is found in whichever thread it is.
TEST_CASE("block_argmax: the largest one at every thread, and its equal at or after it") {
  for (unsigned column = 0; column < 192; column += 7) {
    const unsigned equal = 191 - (191 - column) / 2;  // never before it
    Matrix m = matrix(kBelowZero, 1, 192);
    m.text = "the largest one, 2, is in column " + std::to_string(column) + " and in column " +
             std::to_string(equal);
    m.x[column] = m.x[equal] = 2.0f;
    check_launch(m, {1, 192});
  }
}

// Promise: if several elements are the largest, where[r] is the smallest of their columns.
TEST_CASE("block_argmax: of two equal ones the first wins, whichever threads meet them") {
  // The second is a round later in the same lane (96), in the lane or the warp before (95, 64, 65),
  // or in a later one (1, 31, 32): no order of lanes, warps or rounds may decide.
  constexpr unsigned kRows = 12, kColumns = 300;
  for (const unsigned distance : {1u, 31u, 32u, 64u, 65u, 95u, 96u, 97u}) {
    Matrix m = matrix(kBelowZero, kRows, kColumns);
    m.text = "the largest one, 2, is there twice, in columns that are " + std::to_string(distance) +
             " apart";
    for (unsigned r = 0; r < kRows; ++r) {
      const unsigned column = (r * 17 + distance) % (kColumns - distance);
      m.x[r * kColumns + column] = m.x[r * kColumns + column + distance] = 2.0f;
    }
    check_launch(m, {4, 96});
  }
}

// Promise: a column may need more than 16 bits.
TEST_CASE("block_argmax: more than 2^16 columns") {
  Matrix m = matrix(kBelowZero, 1, 70'001);
  m.text = "the largest one is in column 69999";
  m.x[69'999] = 2.0f;
  check_launch(m, {1, 1024});
}

// Promise: a row has any number of columns below 2^31 (GPU only).
TEST_CASE("block_argmax: a row of almost 2^31 columns") {
  constexpr unsigned kColumns = (1u << 31) - 1, kWhere = kColumns - 2;
  course::skip_without_memory(kColumns * sizeof(float));
  course::DeviceBuffer<float> d_x(kColumns);
  d_x.fill_bytes(0xC0);  // -6.02...
  const float two[] = {2.0f, 2.0f};
  CUDA_CHECK(cudaMemcpy(d_x.data() + kWhere, two, sizeof two, cudaMemcpyHostToDevice));
  course::GuardedBuffer<float> best(1);
  course::GuardedBuffer<unsigned> where(1);
  INFO("1 row of 2^31 - 1 columns: 2 in the last two of them; block_argmax<<<1, 1024>>>");
  course::launch(block_argmax, {1, 1024}, d_x.data(), 1, kColumns, best.data(), where.data());
  REQUIRE(course::same(best.download().front(), 2.0f, "best"));
  REQUIRE(course::same(where.download().front(), kWhere, "where"));
}

// Promise: rows * columns may be more than 2^32 (the CPU device runs the last two blocks of a grid that
// has one for each row).
TEST_CASE("block_argmax: rows that begin after element 2^32") {
  if (course::kCpuDevice) return check_end();
  constexpr unsigned kRows = (1u << 16) + 1, kColumns = kRows;
  constexpr std::size_t kElements = std::size_t{kRows} * kColumns;
  course::skip_without_memory(kElements * sizeof(float));
  course::DeviceBuffer<float> d_x(kElements);
  d_x.fill_bytes(0xC0);
  Answer expected{std::vector<float>(kRows), std::vector<unsigned>(kRows, 0)};
  CUDA_CHECK(
      cudaMemcpy(expected.best.data(), d_x.data(), kRows * sizeof(float), cudaMemcpyDeviceToHost));
  for (const unsigned row : {0u, kRows / 2, kRows - 1}) {
    expected.best[row] = static_cast<float>(row);
    expected.where[row] = kColumns - 2 - row / 2;
    CUDA_CHECK(cudaMemcpy(d_x.data() + std::size_t{row} * kColumns + expected.where[row],
                          &expected.best[row], sizeof(float), cudaMemcpyHostToDevice));
  }
  course::GuardedBuffer<float> best(kRows);
  course::GuardedBuffer<unsigned> where(kRows);
  INFO("2^16 + 1 rows of 2^16 + 1 columns; block_argmax<<<2048, 256>>>");
  course::launch(block_argmax, {2048, 256}, d_x.data(), kRows, kColumns, best.data(), where.data());
  REQUIRE(course::same(best.download(), expected.best, "best"));
  REQUIRE(course::same(where.download(), expected.where, "where"));
}

// Promise: -0 equals +0, and infinity is a number.
TEST_CASE("block_argmax: the two zeros are equal, infinity is a number") {
  Matrix m{"-0 before +0; NaN and infinity", 2, 70, std::vector<float>(140, -1.0f)};
  m.x[40] = -0.0f;
  m.x[66] = 0.0f;
  m.x[70 + 3] = kNan, m.x[70 + 5] = -kNan;
  m.x[70 + 69] = kInfinity;
  for (const unsigned block : {32u, 96u}) check_launch(m, {2, block});
}

// Promise: both results are right in every order of the lanes.
TEST_CASE("block_argmax: the lanes of a warp go in step") {
  course::count([&] { check_launch(matrix(kNanAmong, 5, 150), {2, 96}); });
}

// Promise: the threads of one block share a row: every element is loaded once, and the lanes of a
// warp load neighbours (loads, sectors, the busiest warp).
// Promise: each result is written once (lanes that store).
// Promise: at most four __syncthreads() per row, however large the block is; no atomics.
TEST_CASE("block_argmax: the threads share a row, and rarely wait") {
  course::skip_without_counters();
  for (const unsigned block : {128u, 1024u}) {
    const Matrix m = matrix(kDistinct, 3, 2048);
    INFO(describe(m, {2, block}));
    const auto counters = course::count([&] { check_launch(m, {2, block}, 0); });
    REQUIRE(course::at_most(
        counters->global_loads, 3 * 2048 / 32, "loads",
        "a warp reads 32 neighbouring elements with one load, and each is read once"));
    REQUIRE(course::at_most(counters->global_load_sectors, 3 * 2048 / 8, "sectors of 32 bytes",
                            "the 32 lanes of a warp read neighbours, 4 sectors per load"));
    constexpr const char* kOneWrites =
        "one thread writes a row's two results, the others have nothing to write";
    REQUIRE(course::at_most(counters->global_stores, 2 * 3, "stores", kOneWrites));
    REQUIRE(
        course::at_most(counters->global_store_lanes, 2 * 3, "stores of single lanes", kOneWrites));
    // A block has two rows at most, and its warps read as much of them each.
    REQUIRE(course::work_is_shared(*counters, 2 * (2048 / block + 4)));
    REQUIRE(course::at_most(counters->barriers, 3 * 4, "barriers, __syncthreads() once per block",
                            "two warp reductions need two, a tree in shared memory many"));
    REQUIRE(course::none(counters->global_atomics + counters->shared_atomics, "atomics",
                         "each row is one block's own"));
  }
}

}  // namespace block_argmax_check
