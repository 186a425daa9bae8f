// Check of the exercise block_argmax: rows of every length, every block of whole warps, ties, NaN,
// and several rows for each block.
#include "block_argmax.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace {

using Launch = course::LaunchShape;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

enum class Kind {
  distinct,
  below_zero,
  ties,
  all_equal,
  rising,
  falling,
  nan_among,
  nan_only,
  low
};
constexpr Kind kKinds[] = {Kind::distinct,  Kind::below_zero, Kind::ties,
                           Kind::all_equal, Kind::rising,     Kind::falling,
                           Kind::nan_among, Kind::nan_only,   Kind::low};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::distinct:
      return "no two alike";
    case Kind::below_zero:
      return "all below zero";
    case Kind::ties:
      return "the largest one is there several times";
    case Kind::all_equal:
      return "all are equal";
    case Kind::rising:
      return "the largest one comes last";
    case Kind::falling:
      return "the largest one comes first";
    case Kind::nan_among:
      return "some are NaN";
    case Kind::nan_only:
      return "every other row is nothing but NaN";
    case Kind::low:
      return "-infinity and NaN";
  }
  return "";
}

struct Matrix {
  unsigned rows, columns;
  std::vector<float> x;
};

Matrix make_matrix(Kind kind, unsigned rows, unsigned columns) {
  Matrix m{rows, columns, {}};
  const std::vector<unsigned> random =
      course::position_values<unsigned>(std::size_t{rows} * columns);
  for (unsigned r = 0; r < rows; ++r) {
    for (unsigned c = 0; c < columns; ++c) {
      const unsigned bits = random[m.x.size()];
      // Where no two are alike: multiples of a number that has no factor in common with 4093.
      const auto distinct = static_cast<float>((c * 1021u + r * 37u) % 4093u);
      float value = distinct;
      switch (kind) {
        case Kind::distinct:
          break;
        case Kind::below_zero:
          value = -5.0f - distinct;
          break;
        case Kind::ties:
          value = bits % 8 == 0 ? 7.0f : static_cast<float>(bits % 7);
          break;
        case Kind::all_equal:
          value = static_cast<float>(r);
          break;
        case Kind::rising:
          value = static_cast<float>(c) - 100.0f;
          break;
        case Kind::falling:
          value = -static_cast<float>(c);
          break;
        case Kind::nan_among:
          value = bits % 3 != 0 ? kNan : -distinct;
          break;
        case Kind::nan_only:
          value = r % 2 == 0 ? kNan : -distinct;
          break;
        case Kind::low:
          value = bits % 4 == 0 ? -kInfinity : kNan;
          break;
      }
      m.x.push_back(value);
    }
  }
  return m;
}

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

void check_launch(const Matrix& m, Launch launch) {
  const auto d_x = course::DeviceBuffer<float>::from(m.x);
  course::GuardedBuffer<float> best(m.rows);
  course::GuardedBuffer<unsigned> where(m.rows);
  block_argmax<<<launch.grid, launch.block>>>(d_x.data(), m.rows, m.columns, best.data(),
                                              where.data());
  CUDA_CHECK_LAUNCH();
  const Answer expected = reference(m);
  REQUIRE(course::same(best.download(), expected.best, "best"));
  REQUIRE(course::same(where.download(), expected.where, "where"));
  REQUIRE(best.intact("best"));
  REQUIRE(where.intact("where"));
}

std::string describe(const Matrix& m, Launch launch, const std::string& data) {
  return std::to_string(m.rows) + " rows of " + std::to_string(m.columns) + " columns: " + data +
         "; block_argmax<<<" + std::to_string(launch.grid) + ", " + std::to_string(launch.block) +
         ">>>";
}

/// Ok if there were at most `most`.
course::Verdict at_most(std::uint64_t found, std::uint64_t most, const std::string& what,
                        const std::string& hint) {
  if (found <= most) return {};
  return {false, what + ": expected at most " + std::to_string(most) + ", found " +
                     std::to_string(found) + "; " + hint};
}

}  // namespace

TEST_CASE("block_argmax: a row for each block, every kind of data") {
  for (const unsigned block : {32u, 96u, 256u}) {
    for (const Kind kind : kKinds) {
      const Matrix m = make_matrix(kind, 4, 300);
      INFO(describe(m, {4, block}, to_string(kind)));
      check_launch(m, {4, block});
    }
  }
}

TEST_CASE("block_argmax: rows of every length") {
  std::size_t turn = 0;
  for (const unsigned columns : {1u, 2u, 31u, 32u, 33u, 95u, 255u, 256u, 257u, 1023u, 1025u}) {
    for (const unsigned block : {64u, 1024u}) {
      const Kind kind = kKinds[turn++ % std::size(kKinds)];
      const Matrix m = make_matrix(kind, 2, columns);
      INFO(describe(m, {2, block}, to_string(kind)));
      check_launch(m, {2, block});
    }
  }
}

TEST_CASE("block_argmax: every block of whole warps") {
  for (unsigned block = 32; block <= 1024; block += block < 256 ? 32 : 128) {
    for (const Kind kind : {Kind::below_zero, Kind::ties}) {
      const Matrix m = make_matrix(kind, 1, 700);
      INFO(describe(m, {1, block}, to_string(kind)));
      check_launch(m, {1, block});
    }
  }
}

TEST_CASE("block_argmax: several rows for each block") {
  for (const Launch launch : {Launch{1, 32}, Launch{1, 160}, Launch{3, 96}, Launch{2, 512}}) {
    for (const Kind kind : {Kind::falling, Kind::distinct, Kind::nan_only}) {
      const Matrix m = make_matrix(kind, 7, 200);
      INFO(describe(m, launch, to_string(kind)));
      check_launch(m, launch);
    }
  }
}

TEST_CASE("block_argmax: more blocks than rows, and no columns") {
  const Matrix few = make_matrix(Kind::distinct, 2, 50);
  INFO(describe(few, {5, 64}, to_string(Kind::distinct)));
  check_launch(few, {5, 64});
  const Matrix empty{3, 0, {}};
  INFO(describe(empty, {3, 64}, "nothing"));
  check_launch(empty, {3, 64});
}

TEST_CASE("block_argmax: the largest one in every thread's place, and a twin behind it") {
  for (unsigned place = 0; place < 192; place += 7) {
    Matrix m = make_matrix(Kind::below_zero, 1, 192);
    m.x[place] = 2.0f;
    m.x[191 - (191 - place) / 2] = 2.0f;  // never in front of it
    INFO(describe(m, {1, 192},
                  "the largest one, 2, is in column " + std::to_string(place) + " and in column " +
                      std::to_string(191 - (191 - place) / 2)));
    check_launch(m, {1, 192});
  }
}

TEST_CASE("block_argmax: of two equal ones the first wins, whichever threads meet them") {
  constexpr unsigned kColumns = 300, kBlock = 96;
  // The twin is a round later in the same lane (96), in the lane or the warp before (95, 64, 65),
  // or in a later one (1, 31, 32): no order of lanes, warps or rounds may decide.
  for (const unsigned distance : {1u, 31u, 32u, 64u, 65u, 95u, 96u, 97u}) {
    constexpr unsigned kRows = 12;
    Matrix m = make_matrix(Kind::below_zero, kRows, kColumns);
    for (unsigned r = 0; r < kRows; ++r) {
      const unsigned place = (r * 17 + distance) % (kColumns - distance);
      m.x[r * kColumns + place] = m.x[r * kColumns + place + distance] = 2.0f;
    }
    INFO(describe(m, {4, kBlock},
                  "the largest one, 2, is there twice, in columns that are " +
                      std::to_string(distance) + " apart"));
    check_launch(m, {4, kBlock});
  }
}

TEST_CASE("block_argmax: more than 2^16 columns") {
  Matrix m = make_matrix(Kind::below_zero, 1, 70'001);
  m.x[69'999] = 2.0f;
  INFO(describe(m, {1, 1024}, "the largest one is in column 69999"));
  check_launch(m, {1, 1024});
}

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
  block_argmax<<<1, 1024>>>(d_x.data(), 1, kColumns, best.data(), where.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(best.download().front(), 2.0f, "best"));
  REQUIRE(course::same(where.download().front(), kWhere, "where"));
}

TEST_CASE("block_argmax: rows that begin behind element 2^32") {
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
  block_argmax<<<2048, 256>>>(d_x.data(), kRows, kColumns, best.data(), where.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(best.download(), expected.best, "best"));
  REQUIRE(course::same(where.download(), expected.where, "where"));
}

TEST_CASE("block_argmax: the two zeros are equal, infinity is a number") {
  Matrix m{2, 70, std::vector<float>(140, -1.0f)};
  m.x[40] = -0.0f;
  m.x[66] = 0.0f;
  m.x[70 + 3] = kNan;
  m.x[70 + 69] = kInfinity;
  for (const unsigned block : {32u, 96u}) {
    INFO(describe(m, {2, block}, "-0 in front of +0; NaN and infinity"));
    check_launch(m, {2, block});
  }
}

TEST_CASE("block_argmax: the lanes of a warp go in step") {
  const Matrix m = make_matrix(Kind::nan_among, 5, 150);
  INFO(describe(m, {2, 96}, to_string(Kind::nan_among)));
  course::count([&] { check_launch(m, {2, 96}); });
}

TEST_CASE("block_argmax: the threads share a row, and rarely wait") {
  course::skip_without_counters();
  for (const unsigned block : {128u, 1024u}) {
    const Matrix m = make_matrix(Kind::distinct, 3, 2048);
    const auto d_x = course::DeviceBuffer<float>::from(m.x);
    course::GuardedBuffer<float> best(m.rows);
    course::GuardedBuffer<unsigned> where(m.rows);
    const auto counters = course::count([&] {
      block_argmax<<<2, block>>>(d_x.data(), m.rows, m.columns, best.data(), where.data());
      CUDA_CHECK_LAUNCH();
    });
    INFO(describe(m, {2, block}, to_string(Kind::distinct)));
    REQUIRE(at_most(counters->global_loads, 3 * 2048 / 32, "loads",
                    "a warp reads 32 neighbouring elements with one load, and each is read once"));
    REQUIRE(at_most(counters->global_load_sectors, 3 * 2048 / 8, "sectors of 32 bytes",
                    "the 32 lanes of a warp read neighbours, 4 sectors a load"));
    REQUIRE(at_most(counters->global_stores, 2 * 3, "stores",
                    "one thread writes a row's two results, the others have nothing to write"));
    // A block has two rows at most, and its warps read as much of them each.
    REQUIRE(course::work_is_shared(*counters, 2 * (2 * 2048 / block + 4)));
    REQUIRE(at_most(counters->barriers, 3 * 4, "barriers, __syncthreads() once a block",
                    "two warp reductions need two, a tree in shared memory many"));
    REQUIRE(at_most(counters->global_atomics + counters->shared_atomics, 0, "atomics",
                    "each row is one block's own"));
  }
}
