// Check of the exercise index_add_rows: every width, every alignment, rows that share words, rows
// that many add to, the rounding to the bit, zeros with a sign, and the number of atomics.
#include "index_add_rows.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "checks/weighted_rows.cuh"

namespace index_add_rows_check {

using Launch = course::LaunchShape;
using namespace weighted_rows;

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
  REQUIRE(same_bits(table.download(), reference(input, shape, launches), input, shape));
  REQUIRE(table.intact("table"));
  return input;
}

}  // namespace index_add_rows_check

using namespace index_add_rows_check;

TEST_CASE("index_add_rows: one row, of every width, at every alignment") {
  for (const std::size_t width : {1u, 2u, 3u, 4u, 5u, 8u, 33u}) {
    for (const std::size_t table_rows : {1u, 2u}) {
      for (const int odd : {0, 1, 2, 3}) {
        check_rows(Data::distinct, {1, width, table_rows, odd / 2 != 0, odd % 2 != 0}, {1, 32});
      }
    }
  }
}

TEST_CASE("index_add_rows: rows that share their words with others, values of every kind") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t width : {1u, 2u, 3u, 7u, 8u, 31u, 64u, 65u}) {
    const std::vector<Launch> launches = course::launch_shapes(9 * (width / 2 + 1));
    for (const Data data : {Data::distinct, Data::special, Data::ties}) {
      for (const bool odd : {false, true}) {
        const Shape shape{9, width, 18, turn % 3 == 0, odd};
        check_rows(data, shape, launches[turn++ * 5 % launches.size()]);
      }
    }
  }
}

TEST_CASE("index_add_rows: many rows to the same row, two launches") {
  for (const std::size_t width : {1u, 2u, 5u, 16u}) {
    for (const std::size_t table_rows : {1u, 3u}) {
      check_rows(Data::crowded, {150, width, table_rows, false, false}, {3, 96});
      check_rows(Data::crowded, {150, width, table_rows, true, true}, {3, 96});
    }
  }
  check_rows(Data::crowded, {60, 7, 4, false, true}, {2, 64}, 2);
}

TEST_CASE("index_add_rows: no rows, no columns") {
  for (const Shape& shape : {Shape{0, 5, 3}, Shape{4, 0, 3}, Shape{0, 0, 0}}) {
    check_rows(Data::crowded, shape, {1, 32});
  }
}

TEST_CASE("index_add_rows: blocks of odd sizes, long rows") {
  for (const Launch launch : {Launch{1, 1}, Launch{1, 1024}, Launch{5, 33}, Launch{2, 250}}) {
    check_rows(Data::distinct, {20, 21, 40, true, true}, launch);
  }
  check_rows(Data::distinct, {3, 1101, 6, true, true}, {2, 96});
  if (!course::has_run_before()) check_rows(Data::distinct, {1, 70'001, 2}, {2, 1024});
}

TEST_CASE("index_add_rows: the lanes of a warp go in step") {
  for (const std::size_t width : {1u, 3u, 32u}) {
    for (const Data data : {Data::special, Data::crowded}) {
      course::count([&] { check_rows(data, {15, width, 30, false, true}, {2, 64}); });
    }
  }
}

TEST_CASE("index_add_rows: many rows, more than 65536 rows") {
  const std::size_t rows = course::kCpuDevice ? 300 : 20'011;
  check_rows(Data::crowded, {rows, 21, rows / 20, true, false}, {7, 128});
  check_rows(Data::crowded, {66'000, 1, 70'000}, {256, 32});
}

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

TEST_CASE("index_add_rows: the threads share the work, side by side") {
  course::skip_without_counters();
  // A warp has eight iterations of a loop, whether a thread has a word or a team of 8, 32 or 64
  // threads has a row.
  const auto counters = course::count([&] { check_rows(Data::crowded, {32, 127, 40}, {4, 64}); });
  INFO(sizes_text({32, 127, 40}) << "; " << course::launch_text("index_add_rows", {4, 64}));
  REQUIRE(course::work_is_shared(*counters, counters->global_loads * 3 / 16));
  REQUIRE(side_by_side(counters->sectors_per_request()));
}

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
         << "table[0] is table[" << kTableRows - there << "] here: is a product cut to 32 bits?");
    const auto source = course::DeviceBuffer<bf16>::from(input.source);
    const auto index = course::DeviceBuffer<int>::from(last_rows);
    const auto weight = course::DeviceBuffer<float>::from(input.weight);
    course::Placed<bf16> table(input.table, 0);
    bf16* const first = table.data() - before;
    course::launch(index_add_rows, {2, 32}, source.data(), index.data(), weight.data(), 8, kWidth,
                   kTableRows, first);
    REQUIRE(same_bits(table.download(), expected, input, shape));
    REQUIRE(table.intact("table"));
  }
}

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
