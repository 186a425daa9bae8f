// Every rung of this chapter is right at every awkward size and alignment.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <variant>
#include <vector>

#include "testing.cuh"

// ---- the function itself ------------------------------------------------------------------------

namespace fast_add_testing {

/// One thread adds once.
template <class T, bool kBranching>
__global__ void add_once(T* base, std::size_t index, std::size_t length, T value) {
  if constexpr (kBranching) {
    fast_atomic_add_branching(base, index, length, value);
  } else {
    fast_atomic_add(base, index, length, value);
  }
}

template <class T, bool kBranching>
void check_every_place() {
  for (std::size_t length = 1; length <= 4; ++length) {
    for (const std::size_t offset : {0u, 1u}) {
      for (std::size_t index = 0; index < length; ++index) {
        for (const T& neighbour : neighbours<T>()) {
          INFO(length << " elements of " << sizeof(T) << " bytes, base is element " << offset
                      << "; one thread adds 2.5 to element " << index
                      << ", which holds 4; the others hold " << course::number_text(neighbour));
          std::vector<T> expected(length, neighbour);
          expected[index] = number<T>(4);
          course::Placed<T> table(expected, offset);
          expected[index] = number<T>(6.5);
          course::launch(add_once<T, kBranching>, {1, 1}, table.data(), index, length,
                         number<T>(2.5));
          const std::vector<T> found = table.download();
          for (std::size_t t = 0; t < length; ++t) {
            INFO("element " << t << " is " << course::number_text(found[t]));
            REQUIRE(bits_of(found[t]) == bits_of(expected[t]));
          }
          REQUIRE(table.intact("table"));
        }
      }
    }
  }
}

}  // namespace fast_add_testing

using namespace fast_add_testing;

TEST_CASE("fast_atomic_add adds at every place, and changes no other element") {
  check_every_place<__half, false>();
  check_every_place<__nv_bfloat16, false>();
  check_every_place<float, false>();
  check_every_place<double, false>();
}

TEST_CASE("fast_atomic_add_branching does the same") {
  check_every_place<__half, true>();
  check_every_place<__nv_bfloat16, true>();
}

TEST_CASE("fast_atomic_add adds zeros, infinities and NaN like any other number") {
  const float cases[][3] = {{-0.0f, -0.0f, -0.0f},
                            {-0.0f, 0.0f, 0.0f},
                            {65504.0f, 65504.0f, HUGE_VALF},
                            {HUGE_VALF, -HUGE_VALF, std::nanf("")},
                            {0x1p-24f, 0x1p-24f, 0x1p-23f}};  // subnormal halves
  for (const auto& [old, value, sum] : cases) {
    INFO(old << " + " << value << ", in half, with a neighbour and without");
    for (const std::size_t length : {1u, 2u}) {
      course::Placed<__half> table(std::vector<__half>(length, number<__half>(old)), 0);
      course::launch(add_once<__half, false>, {1, 1}, table.data(), std::size_t{0}, length,
                     number<__half>(value));
      const auto found = static_cast<float>(table.download().front());
      REQUIRE(std::isnan(found) == std::isnan(sum));
      if (!std::isnan(sum)) REQUIRE(bits_of(found) == bits_of(sum));
    }
  }
}

// ---- single values ------------------------------------------------------------------------------

TEST_CASE("every scatter adds every value once") {
  constexpr std::size_t kMany = course::kCpuDevice ? 4'099 : course::kBigSize;
  std::vector<ScatterRung> rungs = right_rungs(scatter_rungs());
  rungs.push_back({"scatter_in_parts, parts of 8", "", {}, launch_scatter_in_parts<3>});
  for (const ScatterRung& rung : rungs) {
    for (const std::size_t n : course::kSizes) {
      check_scatter(rung, n, 37, {.table = n % 2});
      check_scatter(rung, n, 2, {.table = (n + 1) % 2});
    }
    check_scatter(rung, kMany, 1000, {.table = 1});  // about 1000 per target on a GPU: exact
    check_scatter(rung, 1025, 1);
    check_scatter(rung, 257, 1, {.index = 1});
    check_scatter(rung, 257, 1, {.table = 1, .values = 2});
  }
}

TEST_CASE("sum_sorted adds every value once") {
  const ScatterRung rung = rung_named(scatter_rungs(), "sum_sorted");
  for (const std::size_t n : course::all_sizes()) {
    for (const std::size_t targets : {1u, 37u}) {
      if (n / targets > 2048) continue;  // halves would not be exact
      check_scatter(rung, n, targets, {.table = 1});
    }
  }
}

TEST_CASE("scatter_privatized takes tables that fit into shared memory, and passes on the others") {
  for (const std::size_t targets : {kMostPrivateTargets, kMostPrivateTargets + 1}) {
    check_scatter(rung_named(scatter_rungs(), "scatter_privatized"), 4096, targets);
  }
}

namespace fast_add_testing {

/// The table holds -0.0, and begins at element `offset`.
template <class Table>
void check_zeros(const Scatter<Table>& launch, const std::vector<__half>& values,
                 const std::vector<int>& index, std::size_t offset) {
  const auto d_values = course::DeviceBuffer<__half>::from(values);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  std::vector<Table> expected(41, number<Table>(-0.0));
  course::Placed<Table> table(expected, offset);
  for (std::size_t i = 0; i < index.size(); ++i) {  // -0.0 + x is x
    expected[static_cast<std::size_t>(index[i])] =
        static_cast<Table>(static_cast<float>(values[i]));
  }
  launch(d_values.data(), d_index.data(), index.size(), table.data(), 41, nullptr);
  REQUIRE(bits_agree(table.download(), expected));
}

}  // namespace fast_add_testing

TEST_CASE("no scatter changes an element that gets nothing, or -0.0: not even the sign of a zero") {
  // Some have a neighbour that gets nothing.
  const std::vector<int> index = {1, 4, 5, 8, 30, 31, 32, 40};
  std::vector<__half> values(index.size(), __half(1.0f));
  values[2] = number<__half>(-0.0);  // to element 5, which stays what it is
  for (const ScatterRung& rung : right_rungs(scatter_rungs(), true)) {
    for (const std::size_t offset : {0u, 1u}) {
      INFO(rung.name << ": the table holds -0.0, and begins at element " << offset);
      std::visit([&](const auto& launch) { check_zeros(launch, values, index, offset); },
                 rung.launch);
    }
  }
}

TEST_CASE("scatter_fast adds float, double, half and bfloat16") {
  for_each_type_rung([]<class T>(const TypeRung<T>& rung) {
    for (const std::size_t n : {0u, 1u, 33u, 1025u}) {
      for (const std::size_t offset : {0u, 1u}) {
        INFO(rung.name << ": n = " << n << ", the table begins at element " << offset);
        const std::vector<T> values = coin_flips<T>(n);
        const std::vector<int> index = random_index(n, 50);
        const auto d_values = course::DeviceBuffer<T>::from(values);
        const auto d_index = course::DeviceBuffer<int>::from(index);
        course::Placed<T> table(std::vector<T>(50, number<T>(0)), offset);
        rung.launch(d_values.data(), d_index.data(), n, table.data(), 50, nullptr);
        const std::vector<double> sums = scatter_reference(values, index, 50);
        REQUIRE(course::same(table.download(), rounded<T>(sums), "table"));
        REQUIRE(table.intact("table"));
      }
    }
  });
}

TEST_CASE("scatter_float adds halves to a table of floats") {
  for (const std::size_t n : course::all_sizes()) {
    INFO("n = " << n);
    const std::vector<__half> values = course::position_values<__half>(n);  // sums are exact
    const std::vector<int> index = random_index(n, 37);
    const auto d_values = course::DeviceBuffer<__half>::from(values);
    const auto d_index = course::DeviceBuffer<int>::from(index);
    course::Placed<float> table(std::vector<float>(37, 0.0f), 1);
    launch_scatter_float(d_values.data(), d_index.data(), n, table.data(), 37, nullptr);
    const std::vector<double> sums = scatter_reference(values, index, 37);
    REQUIRE(course::same(table.download(), rounded<float>(sums), "table"));
    REQUIRE(table.intact("table"));
  }
}

// ---- rows ---------------------------------------------------------------------------------------

TEST_CASE("every rung adds every row once, of any width, at any alignment") {
  const RowsShape kShapes[] = {
      {0, 8, 3},   {1, 1, 1},        {1, 2, 1},     {33, 3, 5, 0, 1}, {33, 3, 5, 1, 0},
      {31, 7, 4},  {57, 8, 3},       {57, 8, 3, 8}, {57, 8, 3, 0, 8}, {57, 8, 3, 8, 8},
      {9, 72, 3},  {57, 8, 3, 1, 1}, {57, 8, 3, 2}, {57, 8, 3, 0, 2}, {57, 8, 3, 0, 4},
      {20, 12, 7}, {40, 16, 129},    {40, 24, 300}, {33, 64, 128},    {33, 65, 20},
      {5, 264, 2}, {3, 300, 2},      {5, 0, 2},     {257, 8, 1},
  };
  for (const RowsShape& shape : kShapes) {
    for (const RowsRung& rung : right_rungs(rows_rungs())) check_rows(rung, shape);
  }
}

TEST_CASE("rows_sorted: bins that are empty, full, and fuller than shared memory") {
  struct Skew {
    const char* name;
    std::size_t rows, table_rows;
    int (*target)(std::size_t);
  };
  constexpr int kFar = course::kCpuDevice ? 35 * 128 : 1 << 17;  // more bins than a warp has lanes
  const Skew skews[] = {
      {"all rows to row 0", 800, 300, [](std::size_t) { return 0; }},
      {"all rows to the last row", 800, 300, [](std::size_t) { return 299; }},
      {"all rows to one bin", 700, 300, [](std::size_t r) { return int(128 + r % 128); }},
      {"100 rows to row 130, all others to the last row", 700, 300,
       [](std::size_t r) { return r < 100 ? 130 : 299; }},
      {"to the first bin, to the last one, and to the last but one", 31, kFar, [](std::size_t r) {
         return r % 3 == 0 ? 5 : r % 3 == 1 ? kFar - 1 : kFar - 250;
       }}};
  for (const Skew& skew : skews) {
    INFO(skew.name);
    std::vector<int> index(skew.rows);
    for (std::size_t r = 0; r < index.size(); ++r) index[r] = skew.target(r);
    check_rows({"rows_sorted, chunks of 512", "", {}, launch_rows_sorted<1>()},
               {skew.rows, 8, skew.table_rows}, index);
  }
}

TEST_CASE("rows_sorted: more than one tile, one workspace for several launches") {
  const RowsRung rung = rung_named(rows_rungs(), "rows_sorted");
  // The second launch has more rows and more bins than the first one, the third has fewer.
  for (const RowsShape& shape :
       {RowsShape{31, 8, 100}, RowsShape{kTile + 77, 8, 140}, RowsShape{33, 16, 50}}) {
    check_rows(rung, shape);
  }
}

TEST_CASE("rows_sorted refuses what its entries have no bits for") {
  __half* const aligned = nullptr;
  const Rows rows{nullptr, nullptr, std::size_t{1} << 24, 64};
  REQUIRE(can_sort(rows, aligned, std::size_t{1} << 17));
  REQUIRE_FALSE(can_sort(rows, aligned, (std::size_t{1} << 17) + 1));
  REQUIRE_FALSE(can_sort({nullptr, nullptr, rows.rows + 1, 64}, aligned, 1));
  REQUIRE_FALSE(can_sort({nullptr, nullptr, 1, 63}, aligned, 1));
  // An index that is no multiple of 16 goes to rows_red_v4.
  const auto index = random_index(10, 3);
  const course::Placed<int> d_index(index, 1);
  const auto launch = [&](Rows in, __half* d_table, std::size_t table_rows, cudaStream_t stream) {
    in.d_index = d_index.data();
    launch_rows_sorted()(in, d_table, table_rows, stream);
  };
  check_rows({"rows_sorted", "", {}, launch}, {10, 8, 3}, index);
}

namespace fast_add_testing {

/// The table holds -0.0.
template <class Table>
void check_zeros(const AddRows<Table>& launch, const std::vector<__half>& source,
                 const std::vector<int>& index, std::size_t width) {
  const auto d_source = course::DeviceBuffer<__half>::from(source);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  std::vector<Table> expected(9 * width, number<Table>(-0.0));
  course::Placed<Table> table(expected, 0);
  for (std::size_t i = 0; i < source.size(); ++i) {
    Table& element = expected[static_cast<std::size_t>(index[i / width]) * width + i % width];
    element = static_cast<Table>(static_cast<float>(element) + static_cast<float>(source[i]));
  }
  launch({d_source.data(), d_index.data(), index.size(), width}, table.data(), 9, nullptr);
  REQUIRE(bits_agree(table.download(), expected));
}

}  // namespace fast_add_testing

TEST_CASE("no rung changes a row that gets nothing, or -0.0: not even the sign of a zero") {
  const std::vector<int> index = {1, 4, 4, 8};
  for (const std::size_t width : {1u, 3u, 8u}) {
    std::vector<__half> source(index.size() * width, __half(1.0f));
    std::fill_n(source.begin(), width, number<__half>(-0.0));  // to row 1, which stays what it is
    for (const RowsRung& rung : right_rungs(rows_rungs())) {
      INFO(rung.name << ": rows of " << width << ", the table holds -0.0");
      std::visit([&](const auto& launch) { check_zeros(launch, source, index, width); },
                 rung.launch);
    }
  }
}

// ---- more than 2^31 -----------------------------------------------------------------------------

namespace fast_add_testing {

/// Element i of a large index is i % targets: it is made on the device.
__global__ void fill_index(int* d_index, std::size_t n, int targets) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    d_index[i] = static_cast<int>(i % static_cast<std::size_t>(targets));
  }
}

/// n elements that are 0, but for a few, and the table of their sums: `element` says of which one.
template <class Element>
course::DeviceBuffer<__half> few_values(std::size_t n, std::vector<std::size_t> places,
                                        std::vector<double>& table, Element element) {
  auto d_values = course::DeviceBuffer<__half>::zeros(n);
  float value = 1.0f;
  for (const std::size_t i : places) {
    const auto half = __half(value);
    CUDA_CHECK(cudaMemcpy(d_values.data() + i, &half, sizeof half, cudaMemcpyHostToDevice));
    table[element(i)] += value;
    value *= 2;
  }
  return d_values;
}

/// Adds to a table of zeros.
template <class Table, class Launch>
void check_large(const Launch& launch, const std::vector<double>& expected) {
  auto table = course::DeviceBuffer<Table>::zeros(expected.size());
  launch(table.data());
  REQUIRE(course::same(table.download(), rounded<Table>(expected), "table"));
}

}  // namespace fast_add_testing

TEST_CASE("every scatter takes more than 2^31 updates") {
  constexpr std::size_t k31 = std::size_t{1} << 31, n = k31 + 77;
  constexpr int kTargets = 1 << 13;  // of which scatter_privatized can hold a table
  course::skip_without_memory(n * 6);
  course::DeviceBuffer<int> d_index(n);
  course::launch(fill_index, {4096, 256}, d_index.data(), n, kTargets);
  std::vector<double> expected(kTargets);
  const auto d_values = few_values(n, {0, k31 - 1, k31, n - 3, n - 1}, expected,
                                   [](std::size_t i) { return i % kTargets; });
  for (const ScatterRung& rung : right_rungs(scatter_rungs())) {
    if (rung.name == "scatter_half") continue;  // takes minutes
    INFO(rung.name << ": n = 2^31 + 77");
    const auto check = [&]<class Table>(const Scatter<Table>& launch) {
      const auto start = [&](Table* d_table) {
        launch(d_values.data(), d_index.data(), n, d_table, kTargets, nullptr);
      };
      check_large<Table>(start, expected);
    };
    std::visit(check, rung.launch);
  }
}

TEST_CASE("every rung takes rows of more than 2^31 elements in all") {
  constexpr std::size_t k31 = std::size_t{1} << 31, kRows = (k31 >> 9) + 3, kWidth = 512;
  constexpr int kTableRows = 1 << 12;
  course::skip_without_memory(kRows * kWidth * sizeof(__half));
  course::DeviceBuffer<int> d_index(kRows);
  course::launch(fill_index, {4096, 256}, d_index.data(), kRows, kTableRows);
  std::vector<double> expected(kTableRows * kWidth);
  const auto d_source =
      few_values(kRows * kWidth, {0, k31 - 1, k31, kRows * kWidth - 1}, expected,
                 [](std::size_t i) { return i / kWidth % kTableRows * kWidth + i % kWidth; });
  for (const RowsRung& rung : right_rungs(rows_rungs())) {
    INFO(rung.name << ": 2^22 + 3 rows of 512");
    const auto check = [&]<class Table>(const AddRows<Table>& launch) {
      const auto start = [&](Table* d_table) {
        launch({d_source.data(), d_index.data(), kRows, kWidth}, d_table, kTableRows, nullptr);
      };
      check_large<Table>(start, expected);
    };
    std::visit(check, rung.launch);
  }
}
