// Check of the exercise index_add_rows: every width, every alignment, rows that share words, rows
// that many add to, the rounding to the bit, zeros with a sign, and the number of atomics.
#include "index_add_rows.cuh"

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <course/placed.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "inputs.cuh"

namespace index_add_rows_check {

using Launch = course::LaunchShape;
using bf16 = __nv_bfloat16;

std::uint16_t bits_of(bf16 x) {
  std::uint16_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
bf16 from_bits(unsigned bits) {
  const auto low = static_cast<std::uint16_t>(bits);
  bf16 x;
  std::memcpy(static_cast<void*>(&x), &low, sizeof x);
  return x;
}

struct Shape {
  std::size_t rows, width, table_rows;
  bool odd_source = false, odd_table = false;
};

enum class Kind { distinct, special, crowded };

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::distinct:
      return "every row of the table gets one row or none";
    case Kind::special:
      return "every row of the table gets one row or none; zeros, infinities and NaN among the "
             "weights and elements";
    case Kind::crowded:
      return "1 and -1, many rows to each row of the table";
  }
  return "";
}

std::string describe(const Shape& shape, Launch launch, Kind kind) {
  return std::to_string(shape.rows) + " rows of " + std::to_string(shape.width) + " into " +
         std::to_string(shape.table_rows) + " rows: " + to_string(kind) + "; source is " +
         (shape.odd_source ? "no" : "a") + " multiple of 4, table is " +
         (shape.odd_table ? "no" : "a") + " multiple of 4" + "; index_add_rows<<<" +
         std::to_string(launch.grid) + ", " + std::to_string(launch.block) + ">>>";
}

struct Input {
  std::vector<bf16> source, table;
  std::vector<int> index;
  std::vector<float> weight;
};

/// A number with all of its bits in use, from 1/2 to 2, or one of its negatives.
float uneven(std::uint64_t i) {
  const float x = 0.5f + static_cast<float>(mixed(i) >> 40) / 0x1p24f * 1.5f;
  return (mixed(i) & 1) != 0 ? -x : x;
}

/// Rows of the table that get a row of the source hold -0.0, so what is added must be there
/// afterwards, bit by bit. The others hold what nobody may change.
Input make_input(Kind kind, const Shape& shape) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float specials[] = {0.0f, -0.0f, kInfinity, -1.0f, std::nanf(""), 0x1p-130f, 2.0f};
  const unsigned untouched[] = {0x8000, 0x0000, 0x7F80, 0x0001, 0x8001, 0x3FC1, 0xFF80};
  Input input;
  for (std::size_t i = 0; i < shape.rows * shape.width; ++i) {
    float x = uneven(i);
    if (kind == Kind::special) x = specials[i % 7];
    if (kind == Kind::crowded) x = (mixed(i) & 1) != 0 ? 1.0f : -1.0f;
    input.source.push_back(__float2bfloat16_rn(x));
  }
  for (std::size_t r = 0; r < shape.rows; ++r) {
    float w = uneven(~r);
    if (kind == Kind::special) w = specials[(r + 3) % 7];
    if (kind == Kind::crowded) w = (mixed(~r) & 1) != 0 ? 1.0f : -1.0f;
    input.weight.push_back(w);
  }
  if (kind == Kind::crowded) {
    if (shape.table_rows > 0) input.index = random_index(shape.rows, shape.table_rows);
    input.table.assign(shape.table_rows * shape.width, __float2bfloat16_rn(3.0f));
    return input;
  }
  for (std::size_t t = 0; t < shape.table_rows * shape.width; ++t) {
    input.table.push_back(from_bits(untouched[mixed(t) % 7]));
  }
  // Every other row of the table, from the last one on: between them are rows that get none.
  for (std::size_t r = 0; r < shape.rows; ++r) {
    const std::size_t to = shape.table_rows - 1 - 2 * r;
    input.index.push_back(static_cast<int>(to));
    for (std::size_t c = 0; c < shape.width; ++c) {
      input.table[to * shape.width + c] = from_bits(0x8000);
    }
  }
  return input;
}

/// The table afterwards. Exact in any order: single additions to -0.0, or small whole numbers.
std::vector<bf16> reference(const Input& input, const Shape& shape, int launches) {
  std::vector<float> sums(input.table.size());
  for (std::size_t t = 0; t < sums.size(); ++t) sums[t] = __bfloat162float(input.table[t]);
  for (int k = 0; k < launches; ++k) {
    for (std::size_t r = 0; r < shape.rows; ++r) {
      for (std::size_t c = 0; c < shape.width; ++c) {
        const float x = __bfloat162float(input.source[r * shape.width + c]);
        sums[static_cast<std::size_t>(input.index[r]) * shape.width + c] +=
            __bfloat162float(__float2bfloat16_rn(input.weight[r] * x));
      }
    }
  }
  std::vector<bf16> table(sums.size());
  for (std::size_t t = 0; t < sums.size(); ++t) table[t] = __float2bfloat16_rn(sums[t]);
  return table;
}

/// Ok if both are the same, bit by bit, or both NaN.
course::Verdict same_bits(const std::vector<bf16>& found, const std::vector<bf16>& expected,
                          const Input& input, const Shape& shape) {
  for (std::size_t t = 0; t < expected.size(); ++t) {
    if (bits_of(found[t]) == bits_of(expected[t])) continue;
    const float f = __bfloat162float(found[t]), e = __bfloat162float(expected[t]);
    if (std::isnan(f) && std::isnan(e)) continue;
    const auto text = [](float x) {
      return x == 0 && std::signbit(x) ? std::string("-0") : course::number_text(x);
    };
    const std::size_t row = t / shape.width;
    bool hit = false;
    for (const int index : input.index) hit = hit || static_cast<std::size_t>(index) == row;
    return {false, "table[" + std::to_string(row) + "][" + std::to_string(t % shape.width) +
                       "]: expected " + text(e) + ", found " + text(f) +
                       (hit ? "" : "; nothing is added to this row")};
  }
  return {};
}

void check_input(const Input& input, const Shape& shape, Launch launch, int launches = 1) {
  const course::Placed<bf16> source(input.source, shape.odd_source ? 1 : 0);
  course::Placed<bf16> table(input.table, shape.odd_table ? 1 : 0);
  const auto index = course::DeviceBuffer<int>::from(input.index);
  const auto weight = course::DeviceBuffer<float>::from(input.weight);
  for (int k = 0; k < launches; ++k) {
    index_add_rows<<<launch.grid, launch.block>>>(source.data(), index.data(), weight.data(),
                                                  shape.rows, shape.width, shape.table_rows,
                                                  table.data());
    CUDA_CHECK_LAUNCH();
  }
  REQUIRE(same_bits(table.download(), reference(input, shape, launches), input, shape));
  REQUIRE(table.intact("table"));
}

/// Words of the table in which a row has elements, for all rows.
std::uint64_t words_touched(const Input& input, const Shape& shape) {
  std::uint64_t words = 0;
  for (const int index : input.index) {
    const std::size_t begin =
        static_cast<std::size_t>(index) * shape.width + (shape.odd_table ? 1 : 0);
    words += (begin + shape.width + 1) / 2 - begin / 2;
  }
  return words;
}

course::Verdict at_most(std::uint64_t found, std::uint64_t most) {
  if (found <= most) return {};
  return {false,
          "atomics: expected at most " + std::to_string(most) + ", found " + std::to_string(found) +
              "; one for each word in which a row has elements. A "
              "row that\nbegins in the middle of a word has its first pair from column 1 on"};
}

course::Verdict side_by_side(double sectors) {
  if (sectors <= 8) return {};
  return {false, "sectors per request: expected at most 8, found " + course::number_text(sectors) +
                     "; neighbouring threads take neighbouring words of a row"};
}

/// Ok if an atomic read the neighbour, which is reported as uninitialised.
course::Verdict takes_the_pair(const course::Findings& findings) {
  if (findings.others > 0) return {};
  return {false,
          "atomics: expected one on the word of table[0] and table[1], found one on table[0] "
          "alone; atomicAdd(__nv_bfloat16*) is a loop, for words that leave the table"};
}

}  // namespace index_add_rows_check

using namespace index_add_rows_check;

TEST_CASE("index_add_rows: one row, of every width, at every alignment") {
  for (const std::size_t width : {1u, 2u, 3u, 4u, 5u, 8u, 33u}) {
    for (const bool odd_source : {false, true}) {
      for (const bool odd_table : {false, true}) {
        for (const std::size_t table_rows : {1u, 2u}) {
          const Shape shape{1, width, table_rows, odd_source, odd_table};
          INFO(describe(shape, {1, 32}, Kind::distinct));
          check_input(make_input(Kind::distinct, shape), shape, {1, 32});
        }
      }
    }
  }
}

TEST_CASE("index_add_rows: rows that share their words with others") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t width : {1u, 2u, 3u, 7u, 8u, 31u, 64u, 65u}) {
    for (const Kind kind : {Kind::distinct, Kind::special}) {
      for (const bool odd : {false, true}) {
        const Shape shape{9, width, 18, turn % 3 == 0, odd};
        const std::vector<Launch> launches = course::launch_shapes(9 * (width / 2 + 1));
        const Launch launch = launches[turn++ * 5 % launches.size()];
        INFO(describe(shape, launch, kind));
        check_input(make_input(kind, shape), shape, launch);
      }
    }
  }
}

TEST_CASE("index_add_rows: many rows to the same row") {
  for (const std::size_t width : {1u, 2u, 5u, 16u}) {
    for (const bool odd : {false, true}) {
      for (const std::size_t table_rows : {1u, 3u}) {
        const Shape shape{150, width, table_rows, odd, odd};
        INFO(describe(shape, {3, 96}, Kind::crowded));
        check_input(make_input(Kind::crowded, shape), shape, {3, 96});
      }
    }
  }
}

TEST_CASE("index_add_rows: two launches add twice") {
  const Shape shape{60, 7, 4, false, true};
  INFO("two launches; " << describe(shape, {2, 64}, Kind::crowded));
  check_input(make_input(Kind::crowded, shape), shape, {2, 64}, 2);
}

TEST_CASE("index_add_rows: no rows, no columns") {
  for (const Shape& shape : {Shape{0, 5, 3}, Shape{4, 0, 3}, Shape{0, 0, 0}}) {
    INFO(describe(shape, {1, 32}, Kind::crowded));
    check_input(make_input(Kind::crowded, shape), shape, {1, 32});
  }
}

TEST_CASE("index_add_rows: blocks of odd sizes") {
  const Shape shape{20, 21, 40, true, true};
  for (const Launch launch : {Launch{1, 1}, Launch{1, 1024}, Launch{5, 33}, Launch{2, 250}}) {
    INFO(describe(shape, launch, Kind::distinct));
    check_input(make_input(Kind::distinct, shape), shape, launch);
  }
}

TEST_CASE("index_add_rows: the lanes of a warp go in step") {
  for (const std::size_t width : {1u, 3u, 32u}) {
    for (const Kind kind : {Kind::special, Kind::crowded}) {
      const Shape shape{15, width, 30, false, true};
      INFO(describe(shape, {2, 64}, kind));
      course::count([&] { check_input(make_input(kind, shape), shape, {2, 64}); });
    }
  }
}

TEST_CASE("index_add_rows: many rows") {
  const std::size_t rows = course::kCpuDevice ? 300 : 20'011;
  const Shape shape{rows, 21, rows / 20, true, false};
  INFO(describe(shape, {7, 128}, Kind::crowded));
  check_input(make_input(Kind::crowded, shape), shape, {7, 128});
}

TEST_CASE("index_add_rows: no more atomics than words") {
  course::skip_without_counters();
  for (const std::size_t width : {1u, 2u, 7u, 32u}) {
    for (const bool odd : {false, true}) {
      const Shape shape{32, width, 5, odd, odd};
      const Input input = make_input(Kind::crowded, shape);
      INFO(describe(shape, {4, 96}, Kind::crowded));
      const auto counters = course::count([&] { check_input(input, shape, {4, 96}); });
      REQUIRE(at_most(counters->global_atomic_lanes, words_touched(input, shape)));
    }
  }
}

TEST_CASE("index_add_rows: a word inside the table is one pair, also if half of it is foreign") {
  course::skip_without_checker();
  // Nobody has ever written table[1]. An atomic on the pair reads it, and that is reported.
  INFO("one row of 1 into row 0 of 2; table is a multiple of 4; index_add_rows<<<1, 32>>>");
  const auto one = course::DeviceBuffer<bf16>::from({__float2bfloat16_rn(1.0f)});
  const auto index = course::DeviceBuffer<int>::from({0});
  const auto weight = course::DeviceBuffer<float>::from({1.0f});
  const course::Findings findings = course::find_races([&] {
    course::DeviceBuffer<bf16> table(2);
    CUDA_CHECK(cudaMemcpy(table.data(), one.data(), sizeof(bf16), cudaMemcpyDeviceToDevice));
    index_add_rows<<<1, 32>>>(one.data(), index.data(), weight.data(), 1, 1, 2, table.data());
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  REQUIRE(takes_the_pair(findings));
}

TEST_CASE("index_add_rows: the threads share the work, side by side") {
  course::skip_without_counters();
  // A warp has eight turns of a loop, whether a thread has a word or a team of 8, 32, 64 a row.
  const Shape shape{32, 127, 40};
  INFO(describe(shape, {4, 64}, Kind::crowded));
  const Input input = make_input(Kind::crowded, shape);
  const auto counters = course::count([&] { check_input(input, shape, {4, 64}); });
  REQUIRE(course::work_is_shared(*counters, 56));
  REQUIRE(side_by_side(counters->sectors_per_request()));
}

TEST_CASE("index_add_rows: long rows") {
  const Shape shape{3, 1101, 6, true, true};
  INFO(describe(shape, {2, 96}, Kind::distinct));
  check_input(make_input(Kind::distinct, shape), shape, {2, 96});
}

TEST_CASE("index_add_rows: more than 65536 rows") {
  const Shape shape{66'000, 1, 70'000};
  INFO(describe(shape, {256, 32}, Kind::crowded));
  check_input(make_input(Kind::crowded, shape), shape, {256, 32});
}

TEST_CASE("index_add_rows: a table of more than 2^32 elements") {
  constexpr std::size_t kWidth = (std::size_t{1} << 30) + 1;
  course::skip_without_memory(6 * kWidth * sizeof(bf16));
  INFO("one row of " << kWidth << " into 5 rows; index_add_rows<<<1024, 256>>>");
  auto source = course::DeviceBuffer<bf16>::zeros(kWidth);
  auto table = course::DeviceBuffer<bf16>::zeros(5 * kWidth);
  const bf16 one = __float2bfloat16_rn(1.0f);
  for (const std::size_t c : {std::size_t{0}, kWidth / 2, kWidth - 1}) {
    CUDA_CHECK(cudaMemcpy(source.data() + c, &one, sizeof one, cudaMemcpyHostToDevice));
  }
  const auto index = course::DeviceBuffer<int>::from({4});
  const auto weight = course::DeviceBuffer<float>::from({5.0f});
  index_add_rows<<<1024, 256>>>(source.data(), index.data(), weight.data(), 1, kWidth, 5,
                                table.data());
  CUDA_CHECK_LAUNCH();
  for (const std::size_t c : {std::size_t{0}, kWidth / 2, kWidth - 1}) {
    bf16 found;
    CUDA_CHECK(
        cudaMemcpy(&found, table.data() + 4 * kWidth + c, sizeof found, cudaMemcpyDeviceToHost));
    REQUIRE(course::same(__bfloat162float(found), 5.0f, "table[4][" + std::to_string(c) + "]"));
  }
}
