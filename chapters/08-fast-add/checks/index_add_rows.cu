// Check of the exercise index_add_rows: every width, every alignment, rows that share words, rows
// that many add to, the rounding to the bit, zeros with a sign, and the number of atomics.
#include "index_add_rows.cuh"

#include <cuda_bf16.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "inputs.cuh"

namespace index_add_rows_check {

using Launch = course::LaunchShape;
using bf16 = __nv_bfloat16;

// ---- rows, their weights, and the table --------------------------------------------------------

enum class Data { distinct, special, crowded, ties };
const char* const kDataTexts[] = {
    "every row of the table gets one row or none",
    ("every row of the table gets one row or none; zeros, infinities and NaN among the weights and "
     "elements"),
    "1 and -1, many rows to each row of the table",
    ("every row of the table gets one row or none; products that, rounded to float, lie halfway "
     "between two bfloat16")};

struct Shape {
  std::size_t rows, width, table_rows;
  bool odd_source = false, odd_table = false;
};

struct Input {
  std::vector<bf16> source, table;
  std::vector<int> index;
  std::vector<float> weight;
};

bf16 from_bits(unsigned bits) { return __ushort_as_bfloat16(static_cast<unsigned short>(bits)); }

/// A number with all of its bits in use, from 1/2 to 2, or one of its negatives.
float uneven(std::uint64_t i) {
  const float x = 0.5f + static_cast<float>(mixed(i) >> 40) / 0x1p24f * 1.5f;
  return (mixed(i) & 1) != 0 ? -x : x;
}

/// Rows of the table that get a row of the source hold -0.0, so what is added must be there
/// afterwards, bit by bit. The others hold what must not change.
Input make_input(Data data, const Shape& shape) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float specials[] = {0.0f, -0.0f, kInfinity, -1.0f, std::nanf(""), 0x1p-130f, 0x1p100f};
  const unsigned untouched[] = {0x8000, 0x0000, 0x7F80, 0x0001, 0x8001, 0x3FC1, 0xFF80};
  Input input;
  for (std::size_t i = 0; i < shape.rows * shape.width; ++i) {
    float x = uneven(i);
    if (data == Data::special) x = specials[i % 7];
    if (data == Data::crowded) x = (mixed(i) & 1) != 0 ? 1.0f : -1.0f;
    if (data == Data::ties) {
      x = std::ldexp(i % 2 == 0 ? 1.0f : -1.0f, static_cast<int>(i % 7)) * (i % 3 == 0 ? 1.25f : 1);
    }
    input.source.push_back(__float2bfloat16_rn(x));
  }
  for (std::size_t r = 0; r < shape.rows; ++r) {
    float w = uneven(~r);
    if (data == Data::special) w = specials[(r + 3) % 7];
    if (data == Data::crowded) w = (mixed(~r) & 1) != 0 ? 1.0f : -1.0f;
    if (data == Data::ties) {
      w = 1.0f + (r % 2 == 0 ? 0x1p-8f : 0x3p-8f);  // one goes down to even, one up
      if (r % 4 > 1) w /= 1.25f;  // times 1.25 it is a tie in float, and none before that rounding
    }
    input.weight.push_back(w);
  }
  if (data == Data::crowded) {
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

// ---- what the table must hold ------------------------------------------------------------------

/// The table afterwards. Exact in any order: single additions to -0.0, or small whole numbers.
std::vector<bf16> reference(const Input& input, const Shape& shape, int launches) {
  std::vector<bf16> table = input.table;
  for (std::size_t i = 0; i < launches * input.source.size(); ++i) {
    const std::size_t at = i % input.source.size(), r = at / shape.width;
    const float added =
        __bfloat162float(__float2bfloat16_rn(input.weight[r] * __bfloat162float(input.source[at])));
    bf16& sum = table[static_cast<std::size_t>(input.index[r]) * shape.width + at % shape.width];
    sum = __float2bfloat16_rn(__bfloat162float(sum) + added);
  }
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
    const auto name_of = [&](std::size_t place) {
      return "table[" + std::to_string(place / shape.width) + "][" +
             std::to_string(place % shape.width) + "]";
    };
    // "weight[2] = 3 times source[2][0] = 1, and ..."; empty if nothing is added to that element.
    const auto added_to = [&](std::size_t place) {
      const std::size_t row = place / shape.width, column = place % shape.width;
      std::string list;
      std::size_t rows = 0;
      for (std::size_t r = 0; r < input.index.size(); ++r) {
        if (static_cast<std::size_t>(input.index[r]) != row || ++rows > 2) continue;
        const std::string number = "[" + std::to_string(r) + "]";
        list += (rows > 1 ? ", and weight" : "weight") + number + " = " + text(input.weight[r]) +
                " times source" + number + "[" + std::to_string(column) +
                "] = " + text(__bfloat162float(input.source[r * shape.width + column]));
      }
      return rows > 2 ? list + ", ... (" + std::to_string(rows) + " rows)" : list;
    };
    std::string inputs = "It held " + text(__bfloat162float(input.table[t]));
    const std::string added = added_to(t);
    inputs += added.empty() ? ", and nothing is added to this row" : "; added is " + added;
    // The other half of its word: an atomic on the whole word adds to it, too.
    const std::size_t beside = ((t + (shape.odd_table ? 1 : 0)) ^ 1) - (shape.odd_table ? 1 : 0);
    if (added.empty() && beside < expected.size() && !added_to(beside).empty()) {
      inputs +=
          ".\nIn the same word is " + name_of(beside) + ", to which is added " + added_to(beside);
    }
    return {false,
            name_of(t) + ": expected " + text(e) + ", found " + text(f) + "\n" + inputs + "."};
  }
  return {};
}

// ---- one case ----------------------------------------------------------------------------------

/// "1 row of 7 columns into a table of 5 rows"
std::string sizes_text(const Shape& shape) {
  return course::counted(shape.rows, "row") + " of " + course::counted(shape.width, "column") +
         " into a table of " + course::counted(shape.table_rows, "row");
}

std::string describe(const Shape& shape, Launch launch, const std::string& data) {
  const auto multiple = [](bool odd) { return odd ? "no multiple of 4" : "a multiple of 4"; };
  return sizes_text(shape) + ": " + data + "; source is " + multiple(shape.odd_source) +
         ", table is " + multiple(shape.odd_table) + "; " +
         course::launch_text("index_add_rows", launch);
}

Input check_rows(Data data, const Shape& shape, Launch launch, int launches = 1) {
  INFO(describe(shape, launch, kDataTexts[static_cast<int>(data)])
       << (launches > 1 ? "; two launches" : ""));
  const Input input = make_input(data, shape);
  const course::Placed<bf16> source(input.source, shape.odd_source ? 1 : 0);
  course::Placed<bf16> table(input.table, shape.odd_table ? 1 : 0);
  const auto index = course::DeviceBuffer<int>::from(input.index);
  const auto weight = course::DeviceBuffer<float>::from(input.weight);
  for (int k = 0; k < launches; ++k) {
    course::launch(index_add_rows, {launch.grid, launch.block}, source.data(), index.data(),
                   weight.data(), shape.rows, shape.width, shape.table_rows, table.data());
  }
  REQUIRE(index_add_rows_check::same_bits(table.download(), reference(input, shape, launches),
                                          input, shape));
  REQUIRE(table.intact("table"));
  return input;
}

// Promise: source and table begin at multiples of 2 bytes, perhaps not of 4, and the width may
// be odd (MISALIGNED ACCESS).
// Promise: memory outside of the table is neither read nor written (OUT OF
// BOUNDS and UNINITIALISED MEMORY).
TEST_CASE("index_add_rows: one row, of every width, at every alignment") {
  for (const std::size_t width : {1u, 2u, 3u, 4u, 5u, 8u, 33u}) {
    for (const std::size_t table_rows : {1u, 2u}) {
      for (const int odd : {0, 1, 2, 3}) {
        check_rows(Data::distinct, {1, width, table_rows, odd / 2 != 0, odd % 2 != 0}, {1, 32});
      }
    }
  }
}

// Promise: weight[r] * source[r][c] is added to table[index[r]][c] for all rows r <
// rows and columns c < width.
// Promise: what is added is computed in float and rounded once, by __float2bfloat16_rn (bit by bit,
// products halfway between two bfloat16, too).
// Promise: it is always added, even if it is 0 or NaN.
// Promise: no other element changes, not even the sign of a zero.
TEST_CASE("index_add_rows: rows that share their words with others, values of every kind") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t width : {1u, 2u, 3u, 7u, 8u, 31u, 64u, 65u}) {
    const std::vector<Launch> launches = course::launch_shapes(9 * (width / 2 + 1));
    for (const Data data : {Data::distinct, Data::special, Data::ties}) {
      for (const bool odd : {false, true}) {
        const Shape shape{9, width, 18, turn % 3 == 0, odd};
        course::in_launch(launches[turn++ * 5 % launches.size()],
                          [&](Launch launch) { check_rows(data, shape, launch); });
      }
    }
  }
}

// Promise: several rows may have the same index, and additions to the same element
// come in any order (DATA RACE).
TEST_CASE("index_add_rows: many rows to the same row, two launches") {
  for (const std::size_t width : {1u, 2u, 5u, 16u}) {
    for (const std::size_t table_rows : {1u, 3u}) {
      check_rows(Data::crowded, {150, width, table_rows, false, false}, {3, 96});
      check_rows(Data::crowded, {150, width, table_rows, true, true}, {3, 96});
    }
  }
  check_rows(Data::crowded, {60, 7, 4, false, true}, {2, 64}, 2);
}

// Promise: rows, width and table_rows may be 0.
TEST_CASE("index_add_rows: no rows, no columns") {
  for (const Shape& shape : {Shape{0, 5, 3}, Shape{4, 0, 3}, Shape{0, 0, 0}}) {
    check_rows(Data::crowded, shape, {1, 32});
  }
}

// Promise: the grid has one dimension and any number of blocks of any size.
TEST_CASE("index_add_rows: blocks of odd sizes, long rows") {
  for (const Launch launch : {Launch{1, 1}, Launch{1, 1024}, Launch{5, 33}, Launch{2, 250}}) {
    check_rows(Data::distinct, {20, 21, 40, true, true}, launch);
  }
  check_rows(Data::distinct, {3, 1101, 6, true, true}, {2, 96});
  if (!course::has_run_before()) check_rows(Data::distinct, {1, 70'001, 2}, {2, 1024});
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("index_add_rows: more than 2^32 threads") {
  course::in_huge_grids(100, [](course::LaunchShape grid) {
    check_rows(Data::crowded, {12, 15, 5}, grid);
  });
}

// Promise: no addition gets lost where the lanes of a warp go in step.
TEST_CASE("index_add_rows: the lanes of a warp go in step") {
  for (const std::size_t width : {1u, 3u, 32u}) {
    for (const Data data : {Data::special, Data::crowded}) {
      course::count([&] { check_rows(data, {15, width, 30, false, true}, {2, 64}); });
    }
  }
}

// Promise: no addition gets lost among many rows, more than 65536 of them, too.
TEST_CASE("index_add_rows: many rows, more than 65536 rows") {
  const std::size_t rows = course::kCpuDevice ? 300 : 20'011;
  check_rows(Data::crowded, {rows, 21, rows / 20, true, false}, {7, 128});
  check_rows(Data::crowded, {66'000, 1, 70'000}, {256, 32});
}

// ---- how many atomics, and whose ---------------------------------------------------------------

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

course::Verdict side_by_side(double sectors) {
  if (sectors <= 8) return {};
  return {false, "sectors per request: expected at most 8, found " + course::number_text(sectors) +
                     "; neighbouring threads take neighbouring words of a row"};
}

/// Ok if an atomic read the neighbour, which is reported as uninitialised.
course::Verdict takes_the_pair(const course::Findings& findings, std::size_t at,
                               std::size_t other) {
  if (findings.others > 0) return {};
  const std::string one = "table[" + std::to_string(at) + "]";
  return {false, "atomics: expected one on the word of " + one + " and table[" +
                     std::to_string(other) + "], found one on " + one +
                     " alone; atomicAdd(__nv_bfloat16*) is a loop, for words that leave the table"};
}

// Promise: a row makes no more than one atomic for each word of the table in which it has elements.
TEST_CASE("index_add_rows: no more atomics than words") {
  course::skip_without_counters();
  const char* const hint =
      "one for each word in which a row has elements. A row that\nbegins in the middle of a word "
      "has its first pair from column 1 on";
  for (const std::size_t width : {1u, 2u, 7u, 32u}) {
    for (const bool odd : {false, true}) {
      const Shape shape{32, width, 5, odd, odd};
      Input input;
      const auto counters = course::count([&] {
        input = check_rows(Data::crowded, shape, {4, 96});
      });
      INFO(describe(shape, {4, 96}, kDataTexts[static_cast<int>(Data::crowded)]));
      REQUIRE(course::at_most(counters->global_atomic_lanes, words_touched(input, shape), "atomics",
                              hint));
    }
  }
}

// Promise: atomicAdd of one bfloat16 is only for a word that is partly outside of the table.
TEST_CASE("index_add_rows: a word inside the table is one pair, also if half of it is foreign") {
  course::skip_without_checker();
  const auto one = course::DeviceBuffer<bf16>::from({__float2bfloat16_rn(1.0f)});
  const auto weight = course::DeviceBuffer<float>::from({1.0f});
  for (const std::size_t length : {2u, 3u, 4u}) {
    for (std::size_t k = 0; k < 2 * length; ++k) {
      const std::size_t odd = k % 2, at = k / 2, other = ((at + odd) ^ 1) - odd;
      if (other >= length) continue;  // table[at] is alone in its word
      // table[other] is not initialised. An atomic on the pair reads it, and that is reported.
      INFO("1 row of 1 column into row " << at << " of a table of " << length << " rows; table is "
                                         << (odd != 0 ? "no" : "a")
                                         << " multiple of 4; index_add_rows<<<1, 32>>>");
      const auto index = course::DeviceBuffer<int>::from({static_cast<int>(at)});
      const course::Findings findings = course::find_races([&] {
        course::DeviceBuffer<bf16> memory(length + odd);
        bf16* const table = memory.data() + odd;
        CUDA_CHECK(cudaMemcpy(table + at, one.data(), sizeof(bf16), cudaMemcpyDeviceToDevice));
        course::launch(index_add_rows, {1, 32}, one.data(), index.data(), weight.data(), 1, 1,
                       length, table);
        CUDA_CHECK(cudaDeviceSynchronize());
      });
      REQUIRE(takes_the_pair(findings, at, other));
    }
  }
}

// Promise: the threads share the work, and neighbouring threads take neighbouring words of a row.
TEST_CASE("index_add_rows: the threads share the work, side by side") {
  course::skip_without_counters();
  // A warp has eight iterations of a loop, whether a thread has a word or a team of 8, 32 or 64
  // threads has a row.
  const auto counters = course::count([&] { check_rows(Data::crowded, {32, 127, 40}, {4, 64}); });
  INFO(sizes_text({32, 127, 40}) << "; " << course::launch_text("index_add_rows", {4, 64}));
  REQUIRE(course::work_is_shared(*counters, counters->global_loads * 3 / 16));
  REQUIRE(side_by_side(counters->sectors_per_request()));
}

// ---- large tables ------------------------------------------------------------------------------

// Promise: index[r] is any row number that an int holds, and elements may be past 2^32.
TEST_CASE("index_add_rows: row numbers up to 2^31 - 2, elements past 2^32") {
  // Only the last rows of the table are in memory; the first element there is the lower half of its
  // word.
  constexpr std::size_t kTableRows = (std::size_t{1} << 31) - 1, kWidth = 3;
  for (const std::size_t there : {3u, 2u}) {  // of the table's rows; with 2, table is odd
    const std::size_t before = (kTableRows - there) * kWidth;
    Input input = make_input(Data::crowded, {8, kWidth, there});
    const Shape shape{8, kWidth, there};
    const std::vector<bf16> expected = reference(input, shape, 1);
    std::vector<int> last_rows;
    for (const int t : input.index) last_rows.push_back(static_cast<int>(kTableRows - there) + t);
    INFO("8 rows of 3 columns into the last "
         << there << " of " << kTableRows << " rows; index_add_rows<<<2, 32>>>;\n"
         << "table[0] is row " << kTableRows - there << ", and element " << before
         << ", of the table");
    const auto source = course::DeviceBuffer<bf16>::from(input.source);
    const auto index = course::DeviceBuffer<int>::from(last_rows);
    const auto weight = course::DeviceBuffer<float>::from(input.weight);
    course::Placed<bf16> table(input.table, 0);
    bf16* const first = table.data() - before;
    course::launch(index_add_rows, {2, 32}, source.data(), index.data(), weight.data(), 8, kWidth,
                   kTableRows, first);
    REQUIRE(index_add_rows_check::same_bits(table.download(), expected, input, shape));
    REQUIRE(table.intact("table"));
  }
}

// Promise: the table may have more than 2^32 elements (GPU only).
TEST_CASE("index_add_rows: a table of more than 2^32 elements") {
  constexpr std::size_t kWidth = (std::size_t{1} << 30) + 1;
  course::skip_without_memory(6 * kWidth * sizeof(bf16));
  INFO("one row of " << kWidth << " into 5 rows; index_add_rows<<<1024, 256>>>");
  auto source = course::DeviceBuffer<bf16>::zeros(kWidth);
  auto table = course::DeviceBuffer<bf16>::zeros(5 * kWidth);
  const bf16 one = __float2bfloat16_rn(1.0f);
  for (const std::size_t c : {std::size_t{0}, kWidth / 2, kWidth - 1})
    CUDA_CHECK(cudaMemcpy(source.data() + c, &one, sizeof one, cudaMemcpyHostToDevice));
  const auto index = course::DeviceBuffer<int>::from({4});
  const auto weight = course::DeviceBuffer<float>::from({5.0f});
  course::launch(index_add_rows, {1024, 256}, source.data(), index.data(), weight.data(), 1, kWidth,
                 5, table.data());
  for (const std::size_t c : {std::size_t{0}, kWidth / 2, kWidth - 1}) {
    bf16 found;
    CUDA_CHECK(
        cudaMemcpy(&found, table.data() + 4 * kWidth + c, sizeof found, cudaMemcpyDeviceToHost));
    REQUIRE(course::same(__bfloat162float(found), 5.0f, "table[4][" + std::to_string(c) + "]"));
  }
}

}  // namespace index_add_rows_check
