// Every rung of this chapter is right at every awkward size and alignment, and what is wrong on
// purpose is wrong in the way that the lesson says.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <course/placed.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "divergence.cuh"
#include "fast_atomic_add.cuh"
#include "index_add.cuh"
#include "inputs.cuh"
#include "scatter.cuh"
#include "segmented.cuh"
#include "sorted.cuh"
#include "wrong.cuh"

// ---- the function itself ------------------------------------------------------------------------

namespace fast_add_selfcheck {

/// One thread adds once.
template <class T, bool kBranching>
__global__ void add_once(T* base, std::size_t index, std::size_t length, T value) {
  if constexpr (kBranching) {
    fast_atomic_add_branching(base, index, length, value);
  } else {
    fast_atomic_add(base, index, length, value);
  }
}

/// Element i of a large index is i % targets, so that nobody has to send it to the device.
__global__ void fill_index(int* d_index, std::size_t n, int targets) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    d_index[i] = static_cast<int>(i % static_cast<std::size_t>(targets));
  }
}

template <class T>
std::uint64_t bits_of(const T& x) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof x);
  return bits;
}

template <class T>
T number(double x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return static_cast<T>(static_cast<float>(x));
  }
}

/// What neighbours may hold: no addition of an identity may change any of it.
template <class T>
std::vector<T> neighbours() {
  std::vector<T> values = {number<T>(-0.0), number<T>(0.0), number<T>(HUGE_VAL),
                           number<T>(-HUGE_VAL), number<T>(1.5)};
  if constexpr (sizeof(T) == 2) {
    const std::uint16_t subnormal = 0x8001;
    T value;
    std::memcpy(static_cast<void*>(&value), &subnormal, sizeof value);
    values.push_back(value);
  }
  return values;
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
          add_once<T, kBranching><<<1, 1>>>(table.data(), index, length, number<T>(2.5));
          CUDA_CHECK_LAUNCH();
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

}  // namespace fast_add_selfcheck

using namespace fast_add_selfcheck;

TEST_CASE("fast_atomic_add adds at every place, and changes nobody else") {
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
      add_once<__half, false><<<1, 1>>>(table.data(), 0, length, number<__half>(value));
      CUDA_CHECK_LAUNCH();
      const auto found = static_cast<float>(table.download().front());
      REQUIRE(std::isnan(found) == std::isnan(sum));
      if (!std::isnan(sum)) REQUIRE(bits_of(found) == bits_of(sum));
    }
  }
}

TEST_CASE("the length decides: 1 takes the scalar path, 2 the pair, and a wrong one leaves") {
  const auto zeros = [](std::size_t length) { return std::vector<__half>(length, __half(0.0f)); };
  for (const std::size_t length : {1u, 2u}) {
    INFO("an array of " << length << ", and the length is " << length);
    course::Placed<__half> y(zeros(length), 0);
    add_with_length(1000, y.data(), length, nullptr);
    REQUIRE(course::same(static_cast<float>(y.download().front()), 1000.0f, "y"));
    REQUIRE(y.intact("y"));
  }
  {
    INFO("an array of 2, and the length is 1: right, and slow");
    course::Placed<__half> y(zeros(2), 0);
    add_with_length(1000, y.data(), 1, nullptr);
    REQUIRE(course::same(static_cast<float>(y.download().front()), 1000.0f, "y"));
  }
  course::skip_without_checker();  // on a GPU nobody notices, or somebody else does
  for (const std::size_t wrong : {2u, 1000u}) {
    INFO("an array of 1, and the length is " << wrong);
    const course::Findings findings = course::find_races([&] {
      course::Placed<__half> y(zeros(1), 0);
      add_with_length(1000, y.data(), wrong, nullptr);
      y.download();
    });
    REQUIRE(findings.races == 0);
    REQUIRE(findings.others >= 1);
    INFO(findings.texts.front());
    REQUIRE(
        findings.texts.front().find("OUT OF BOUNDS in kernel add_with_length: atomic of 4 bytes "
                                    "at d_y[0]") != std::string::npos);
  }
}

// ---- single values ------------------------------------------------------------------------------

namespace fast_add_selfcheck {

struct ScatterRung {
  std::string name;
  void (*launch)(const __half*, const int*, std::size_t, __half*, std::size_t, cudaStream_t);
};

template <unsigned kPartBitsHere>
void in_parts(const __half* d_values, const int* d_index, std::size_t n, __half* d_table,
              std::size_t targets, cudaStream_t stream) {
  scatter_in_parts(d_values, d_index, n, d_table, targets, stream, kPartBitsHere);
}

const std::vector<ScatterRung> kScatterRungs = {
    {"scatter_half", scatter_half},
    {"scatter_fast", scatter_fast<__half>},
    {"scatter_privatized", scatter_privatized},
    {"scatter_in_parts, one part", in_parts<kPartBits>},
    {"scatter_in_parts, parts of 8", in_parts<3>},
    {"add_by_branch", add_by_branch},
    {"add_by_select", add_by_select},
};

template <class T>
course::Verdict same_bits(const std::vector<T>& found, const std::vector<T>& expected) {
  for (std::size_t t = 0; t < expected.size(); ++t) {
    if (bits_of(found[t]) == bits_of(expected[t])) continue;
    return {false, "table[" + std::to_string(t) + "]: expected " +
                       course::number_text(expected[t]) + ", found " +
                       course::number_text(found[t]) + ", not the same bits"};
  }
  return {};
}

/// A table that holds small whole numbers, and what it holds after the updates.
struct Scattered {
  Scattered(std::size_t n, std::size_t targets)
      : values(coin_flips<__half>(n)), index(random_index(n, targets)) {
    std::vector<double> sums = scatter_reference(values, index, targets);
    for (std::size_t t = 0; t < targets; ++t) {
      first.push_back(__half(static_cast<float>(t % 5)));
      sums[t] += static_cast<double>(t % 5);
    }
    expected = rounded<__half>(sums);
  }
  std::vector<__half> values;
  std::vector<int> index;
  std::vector<__half> first, expected;
};

void check_scatter(const ScatterRung& rung, std::size_t n, std::size_t targets,
                   std::size_t offset = 0, std::size_t offset_values = 0,
                   std::size_t offset_index = 0) {
  INFO(rung.name << ": n = " << n << " into " << targets << " targets; the table begins " << offset
                 << " elements behind a multiple of 256 bytes, values " << offset_values
                 << ", index " << offset_index);
  const Scattered s(n, targets);
  const course::Placed<__half> values(s.values, offset_values);
  const course::Placed<int> index(s.index, offset_index);
  course::Placed<__half> table(s.first, offset);
  rung.launch(values.data(), index.data(), n, table.data(), targets, nullptr);
  REQUIRE(course::same(table.download(), s.expected, "table"));
  REQUIRE(table.intact("table"));
}

}  // namespace fast_add_selfcheck

TEST_CASE("every scatter adds every value once") {
  constexpr std::size_t kMany = course::kCpuDevice ? 4'099 : course::kBigSize;
  for (const ScatterRung& rung : kScatterRungs) {
    for (const std::size_t n : course::kSizes) {
      check_scatter(rung, n, 37, n % 2);
      check_scatter(rung, n, 2, (n + 1) % 2);
    }
    check_scatter(rung, kMany, 1000, 1);  // about 1000 a target on a GPU: exact
    check_scatter(rung, 1025, 1);
    check_scatter(rung, 257, 1, 0, 0, 1);
    check_scatter(rung, 257, 1, 1, 2, 0);
  }
}

TEST_CASE("no scatter changes an element that gets nothing, or -0.0: not even the sign of a zero") {
  const std::vector<int> index = {1,  4,  5,  8,
                                  30, 31, 32, 40};  // some with a neighbour that gets nothing
  std::vector<__half> values(index.size(), __half(1.0f));
  values[2] = number<__half>(-0.0);  // to element 5, which stays what it is
  const auto d_values = course::DeviceBuffer<__half>::from(values);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  std::vector<__half> expected(41, number<__half>(-0.0));
  for (std::size_t i = 0; i < index.size(); ++i) {
    expected[static_cast<std::size_t>(index[i])] = values[i];  // -0.0 + x is x
  }
  std::vector<ScatterRung> rungs = kScatterRungs;
  rungs.push_back({"sum_sorted", sum_sorted});
  for (const ScatterRung& rung : rungs) {
    for (const std::size_t offset : {0u, 1u}) {
      INFO(rung.name << ": the table holds -0.0, and begins at element " << offset);
      course::Placed<__half> table(std::vector<__half>(41, number<__half>(-0.0)), offset);
      rung.launch(d_values.data(), d_index.data(), index.size(), table.data(), 41, nullptr);
      REQUIRE(same_bits(table.download(), expected));
    }
  }
}

namespace fast_add_selfcheck {

template <class T>
void check_type(const char* name) {
  for (const std::size_t n : {0u, 1u, 33u, 1025u}) {
    for (const std::size_t offset : {0u, 1u}) {
      INFO("scatter_fast of " << name << ": n = " << n << ", the table begins at element "
                              << offset);
      const std::vector<T> values = coin_flips<T>(n);
      const std::vector<int> index = random_index(n, 50);
      const auto d_values = course::DeviceBuffer<T>::from(values);
      const auto d_index = course::DeviceBuffer<int>::from(index);
      course::Placed<T> table(std::vector<T>(50, number<T>(0)), offset);
      scatter_fast(d_values.data(), d_index.data(), n, table.data(), 50, nullptr);
      const std::vector<double> sums = scatter_reference(values, index, 50);
      std::vector<T> expected;
      for (const double sum : sums) expected.push_back(number<T>(sum));
      REQUIRE(course::same(table.download(), expected, "table"));
      REQUIRE(table.intact("table"));
    }
  }
}

}  // namespace fast_add_selfcheck

TEST_CASE("scatter_fast adds float, double, half and bfloat16") {
  check_type<float>("float");
  check_type<double>("double");
  check_type<__half>("half");
  check_type<__nv_bfloat16>("bfloat16");
}

TEST_CASE("scatter_float adds halves to a table of floats") {
  for (const std::size_t n : course::all_sizes()) {
    INFO("n = " << n);
    const std::vector<__half> values = course::position_values<__half>(n);  // sums are exact
    const std::vector<int> index = random_index(n, 37);
    const auto d_values = course::DeviceBuffer<__half>::from(values);
    const auto d_index = course::DeviceBuffer<int>::from(index);
    course::Placed<float> table(std::vector<float>(37, 0.0f), 1);
    scatter_float(d_values.data(), d_index.data(), n, table.data(), 37, nullptr);
    const std::vector<double> sums = scatter_reference(values, index, 37);
    REQUIRE(course::same(table.download(), std::vector<float>(sums.begin(), sums.end()), "table"));
    REQUIRE(table.intact("table"));
  }
}

TEST_CASE("scatter_privatized takes tables that fit into shared memory, and passes on the others") {
  for (const std::size_t targets : {kMostPrivateTargets, kMostPrivateTargets + 1}) {
    check_scatter(kScatterRungs[2], 4096, targets);
  }
}

TEST_CASE("scatter_privatized makes an atomic a pair of targets and block, not one a value") {
  course::skip_without_counters();
  constexpr std::size_t kUpdatesHere = 3 * kBlockSize * kUpdates, kTargets = 17;
  const auto count = [&](const ScatterRung& rung) {
    return course::count([&] { check_scatter(rung, kUpdatesHere, kTargets); });
  };
  const auto fast = count(kScatterRungs[1]), privatized = count(kScatterRungs[2]);
  REQUIRE(fast->global_atomic_lanes == kUpdatesHere);
  REQUIRE(privatized->global_atomic_lanes == 3 * (kTargets / 2 + 1));  // three blocks
  REQUIRE(privatized->shared_atomic_lanes == kUpdatesHere);
}

TEST_CASE("a warp of both alignments makes two atomics by branch, and one by select") {
  course::skip_without_counters();
  constexpr std::size_t n = 1024, kTargets = 2 * n;
  for (const Alignment alignment :
       {Alignment::low, Alignment::high, Alignment::by_warp, Alignment::by_turns}) {
    std::vector<int> index(n);
    for (std::size_t i = 0; i < n; ++i) {
      index[i] = static_cast<int>(2 * (mixed(i) % n)) + half_of(alignment, i);
    }
    const auto d_index = course::DeviceBuffer<int>::from(index);
    const auto d_values = course::DeviceBuffer<__half>::from(coin_flips<__half>(n));
    auto table = course::DeviceBuffer<__half>::zeros(kTargets);
    const auto branch = course::count([&] {
      add_by_branch(d_values.data(), d_index.data(), n, table.data(), kTargets, nullptr);
    });
    const auto select = course::count([&] {
      add_by_select(d_values.data(), d_index.data(), n, table.data(), kTargets, nullptr);
    });
    const std::uint64_t warps = n / 32;
    REQUIRE(branch->global_atomics == (alignment == Alignment::by_turns ? 2 * warps : warps));
    REQUIRE(select->global_atomics == warps);
  }
}

// ---- rows ---------------------------------------------------------------------------------------

namespace fast_add_selfcheck {

using RowsLaunch = void (*)(const Rows&, __half*, std::size_t, cudaStream_t);
struct RowsRung {
  std::string name;
  RowsLaunch launch;
};

template <unsigned kPerThread>
void sorted(const Rows& in, __half* d_table, std::size_t table_rows, cudaStream_t stream) {
  SortWorkspace workspace;
  rows_sorted<kPerThread>(in, d_table, table_rows, workspace, stream);
  CUDA_CHECK(cudaStreamSynchronize(stream));  // before the workspace goes
}

void float_rows(const Rows& in, float* d_table, std::size_t table_rows, cudaStream_t stream) {
  rows_float(in, d_table, table_rows, stream);
}

const std::vector<RowsRung> kRowsRungs = {
    {"rows_half", rows_half},     {"rows_fast", rows_fast},    {"rows_half2", rows_half2},
    {"rows_red_v4", rows_red_v4}, {"rows_sorted", sorted<20>},
};

struct RowsShape {
  std::size_t rows, width, table_rows;
  std::size_t offset_source = 0, offset_table = 0;
};

std::string describe(const RowsShape& s) {
  return std::to_string(s.rows) + " rows of " + std::to_string(s.width) + " into " +
         std::to_string(s.table_rows) + "; source begins " + std::to_string(s.offset_source) +
         " and table " + std::to_string(s.offset_table) +
         " elements behind a multiple of 256 bytes";
}

/// Rows of coin flips; the table begins at 2.
template <class T, class Launch>
void check_rows(const std::string& name, Launch launch, const RowsShape& s,
                const std::vector<int>& index) {
  INFO(name << ": " << describe(s));
  const std::vector<__half> source = coin_flips<__half>(s.rows * s.width);
  std::vector<double> sums = rows_reference(source, index, s.width, s.table_rows);
  for (double& sum : sums) sum += 2;
  const course::Placed<__half> d_source(source, s.offset_source);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  course::Placed<T> table(std::vector<T>(sums.size(), static_cast<T>(2.0f)), s.offset_table);
  launch({d_source.data(), d_index.data(), s.rows, s.width}, table.data(), s.table_rows, nullptr);
  REQUIRE(course::same(table.download(), rounded<T>(sums), "table"));
  REQUIRE(table.intact("table"));
}
template <class T, class Launch>
void check_rows(const std::string& name, Launch launch, const RowsShape& s) {
  check_rows<T>(name, launch, s, random_index(s.rows, s.table_rows));
}

const std::vector<RowsShape> kRowsShapes = {
    {0, 8, 3},   {1, 1, 1},        {1, 2, 1},     {33, 3, 5, 0, 1}, {33, 3, 5, 1, 0},
    {31, 7, 4},  {57, 8, 3},       {57, 8, 3, 8}, {57, 8, 3, 0, 8}, {57, 8, 3, 8, 8},
    {9, 72, 3},  {57, 8, 3, 1, 1}, {57, 8, 3, 2}, {57, 8, 3, 0, 2}, {57, 8, 3, 0, 4},
    {20, 12, 7}, {40, 16, 129},    {40, 24, 300}, {33, 64, 128},    {33, 65, 20},
    {5, 264, 2}, {3, 300, 2},      {5, 0, 2},     {257, 8, 1},
};

}  // namespace fast_add_selfcheck

TEST_CASE("every rung adds every row once, of any width, at any alignment") {
  for (const RowsRung& rung : kRowsRungs) {
    for (const RowsShape& shape : kRowsShapes) check_rows<__half>(rung.name, rung.launch, shape);
  }
  for (const RowsShape& shape : kRowsShapes) check_rows<float>("rows_float", float_rows, shape);
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
    check_rows<__half>("rows_sorted, chunks of 512", sorted<1>, {skew.rows, 8, skew.table_rows},
                       index);
  }
}

TEST_CASE("rows_sorted: more than one tile, one workspace for several launches") {
  SortWorkspace workspace;
  const auto with_workspace = [&](const Rows& in, __half* d_table, std::size_t table_rows,
                                  cudaStream_t stream) {
    rows_sorted(in, d_table, table_rows, workspace, stream);
  };
  // The second launch has more rows and more bins than the first one, the third has fewer.
  for (const RowsShape& shape :
       {RowsShape{31, 8, 100}, RowsShape{kTile + 77, 8, 140}, RowsShape{33, 16, 50}}) {
    check_rows<__half>("rows_sorted", with_workspace, shape);
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
    sorted<20>(in, d_table, table_rows, stream);
  };
  check_rows<__half>("rows_sorted", launch, {10, 8, 3}, index);
}

TEST_CASE("no rung changes a row that gets nothing, or -0.0: not even the sign of a zero") {
  const std::vector<int> index = {1, 4, 4, 8};
  for (const std::size_t width : {1u, 3u, 8u}) {
    std::vector<__half> source(index.size() * width, __half(1.0f));
    std::fill_n(source.begin(), width, number<__half>(-0.0));  // to row 1, which stays what it is
    const auto d_source = course::DeviceBuffer<__half>::from(source);
    const auto d_index = course::DeviceBuffer<int>::from(index);
    std::vector<__half> expected(9 * width, number<__half>(-0.0));
    for (const int row : {4, 4, 8}) {
      for (std::size_t c = 0; c < width; ++c) {
        __half& element = expected[static_cast<std::size_t>(row) * width + c];
        element = __half(static_cast<float>(element) + 1.0f);
      }
    }
    for (const RowsRung& rung : kRowsRungs) {
      INFO(rung.name << ": rows of " << width << ", the table holds -0.0");
      course::Placed<__half> table(std::vector<__half>(9 * width, number<__half>(-0.0)), 0);
      rung.launch({d_source.data(), d_index.data(), index.size(), width}, table.data(), 9, nullptr);
      REQUIRE(same_bits(table.download(), expected));
    }
  }
}

TEST_CASE("rows: one atomic a half, one a pair, and none on the table") {
  course::skip_without_counters();
  constexpr RowsShape kShape{32, 64, 200};
  const auto count = [&](const RowsRung& rung) {
    return course::count([&] { check_rows<__half>(rung.name, rung.launch, kShape); });
  };
  const auto half = count(kRowsRungs[0]), fast = count(kRowsRungs[1]), half2 = count(kRowsRungs[2]),
             red_v4 = count(kRowsRungs[3]), sort = count(kRowsRungs[4]);
  const auto floats = course::count([&] { check_rows<float>("rows_float", float_rows, kShape); });
  REQUIRE(half->global_atomic_lanes == kShape.rows * 64);
  REQUIRE(fast->global_atomic_lanes == kShape.rows * 64);
  REQUIRE(fast->global_atomics == kShape.rows * 2);            // a warp's 32 columns: one request
  REQUIRE(fast->global_atomic_addresses == kShape.rows * 32);  // two lanes to a word
  REQUIRE(half2->global_atomic_lanes == kShape.rows * 32);
  REQUIRE(red_v4->global_loads < half2->global_loads);  // 16 bytes a load
  REQUIRE(floats->global_atomic_lanes == kShape.rows * 16);
  REQUIRE(sort->global_atomic_lanes <= 2 * 2);  // counts and cursors of the two bins
}

// ---- rounding and order -------------------------------------------------------------------------

namespace fast_add_selfcheck {

/// The updates in the order of their targets, those of one target in their old order.
void sort_by_target(std::vector<__half>& values, std::vector<int>& index) {
  std::vector<std::size_t> order(index.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return index[a] < index[b]; });
  std::vector<__half> sorted_values(values.size());
  std::vector<int> sorted_index(index.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    sorted_values[i] = values[order[i]];
    sorted_index[i] = index[order[i]];
  }
  values = sorted_values;
  index = sorted_index;
}

std::vector<std::uint64_t> table_bits(const ScatterRung& rung, const std::vector<__half>& values,
                                      const std::vector<int>& index, std::size_t targets) {
  const auto d_values = course::DeviceBuffer<__half>::from(values);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  auto table = course::DeviceBuffer<__half>::zeros(targets);
  rung.launch(d_values.data(), d_index.data(), values.size(), table.data(), targets, nullptr);
  std::vector<std::uint64_t> bits;
  for (const __half& x : table.download()) bits.push_back(bits_of(x));
  return bits;
}

}  // namespace fast_add_selfcheck

TEST_CASE("sum_sorted adds every value once") {
  for (const std::size_t n : course::all_sizes()) {
    for (const std::size_t targets : {1u, 37u}) {
      if (n / targets > 2048) continue;  // halves would not be exact
      INFO("n = " << n << " into " << targets << " targets");
      Scattered s(n, targets);
      sort_by_target(s.values, s.index);
      const auto d_values = course::DeviceBuffer<__half>::from(s.values);
      const auto d_index = course::DeviceBuffer<int>::from(s.index);
      course::Placed<__half> table(s.first, 1);
      sum_sorted(d_values.data(), d_index.data(), n, table.data(), targets, nullptr);
      REQUIRE(course::same(table.download(), s.expected, "table"));
      REQUIRE(table.intact("table"));
    }
  }
}

TEST_CASE("atomics give other bits in another order, sum_sorted the same ones") {
  course::skip_without_checker();  // a GPU's order cannot be chosen
  std::vector<__half> values = gradients(2000);
  std::vector<int> index = random_index(2000, 8);
  std::set<std::vector<std::uint64_t>> fast, sorted_bits;
  std::vector<__half> sorted_values = values;
  std::vector<int> sorted_index = index;
  sort_by_target(sorted_values, sorted_index);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    course::with_seed(seed, [&] {
      fast.insert(table_bits(kScatterRungs[1], values, index, 8));
      sorted_bits.insert(table_bits({"sum_sorted", sum_sorted}, sorted_values, sorted_index, 8));
    });
  }
  REQUIRE(fast.size() > 1);
  REQUIRE(sorted_bits.size() == 1);
}

TEST_CASE("sums of halves that are rounded stay within their bounds") {
  constexpr std::size_t n = 4096, kTargets = 32;  // about 128 updates a target
  std::vector<__half> values = gradients(n);
  std::vector<int> index = random_index(n, kTargets);
  const std::vector<double> expected = scatter_reference(values, index, kTargets);
  const std::vector<double> bounds =
      rounding_bounds(values, index, kTargets, course::kHalfRoundoff);
  const auto d_values = course::DeviceBuffer<__half>::from(values);
  const auto d_index = course::DeviceBuffer<int>::from(index);
  for (const ScatterRung& rung : kScatterRungs) {
    INFO(rung.name);
    auto table = course::DeviceBuffer<__half>::zeros(kTargets);
    rung.launch(d_values.data(), d_index.data(), n, table.data(), kTargets, nullptr);
    REQUIRE(within(table.download(), expected, bounds));
  }
  // Sorted, there is one rounding to half, whatever the number of updates.
  std::vector<double> one_rounding =
      rounding_bounds(values, index, kTargets, course::kFloatRoundoff);
  for (std::size_t t = 0; t < kTargets; ++t) {
    one_rounding[t] += course::kHalfRoundoff * std::fabs(expected[t]) * 1.01;
  }
  std::vector<__half> sorted_values = values;
  std::vector<int> sorted_index = index;
  sort_by_target(sorted_values, sorted_index);
  const auto d_sorted_values = course::DeviceBuffer<__half>::from(sorted_values);
  const auto d_sorted_index = course::DeviceBuffer<int>::from(sorted_index);
  auto sums = course::DeviceBuffer<__half>::zeros(kTargets);
  sum_sorted(d_sorted_values.data(), d_sorted_index.data(), n, sums.data(), kTargets, nullptr);
  REQUIRE(within(sums.download(), expected, one_rounding));
  std::vector<__half> source;  // the value in each of eight columns
  std::vector<double> expected_rows, bounds_rows;
  for (const __half& value : values) source.insert(source.end(), 8, value);
  for (std::size_t t = 0; t < kTargets; ++t) {
    expected_rows.insert(expected_rows.end(), 8, expected[t]);
    bounds_rows.insert(bounds_rows.end(), 8, one_rounding[t]);
  }
  const auto d_source = course::DeviceBuffer<__half>::from(source);
  auto table = course::DeviceBuffer<__half>::zeros(8 * kTargets);
  sorted<20>({d_source.data(), d_index.data(), n, 8}, table.data(), kTargets, nullptr);
  REQUIRE(within(table.download(), expected_rows, bounds_rows));
}

TEST_CASE("a half that gets ones stands still at 2048, a float does not") {
  constexpr std::size_t kTargets = 2, n = kTargets * 4096;
  std::vector<int> index(n);
  for (std::size_t i = 0; i < n; ++i) index[i] = static_cast<int>(i % kTargets);
  const auto d_values = course::DeviceBuffer<__half>::from(std::vector<__half>(n, __half(1.0f)));
  const auto d_index = course::DeviceBuffer<int>::from(index);
  auto halves = course::DeviceBuffer<__half>::zeros(kTargets);
  scatter_fast(d_values.data(), d_index.data(), n, halves.data(), kTargets, nullptr);
  REQUIRE(course::same(halves.download(), std::vector<__half>(kTargets, __half(2048.0f)), "table"));
  auto floats = course::DeviceBuffer<float>::zeros(kTargets);
  scatter_float(d_values.data(), d_index.data(), n, floats.data(), kTargets, nullptr);
  REQUIRE(course::same(floats.download(), std::vector<float>(kTargets, 4096.0f), "table"));
}

// ---- wrong on purpose ---------------------------------------------------------------------------

TEST_CASE("scatter_plain races") {
  const Scattered s(4096, 64);
  const auto d_values = course::DeviceBuffer<__half>::from(s.values);
  const auto d_index = course::DeviceBuffer<int>::from(s.index);
  auto table = course::DeviceBuffer<__half>::from(s.first);
  REQUIRE(course::expect_race(
      [&] { scatter_plain(d_values.data(), d_index.data(), 4096, table.data(), nullptr); }));
}

namespace fast_add_selfcheck {

/// Block 0 adds to element 0, block 1 reads its neighbour.
__global__ void read_the_neighbour(__half* d_table, __half* d_seen) {
  if (blockIdx.x == 0) {
    fast_atomic_add(d_table, 0, 2, __float2half(1.0f));
  } else {
    *d_seen = d_table[1];
  }
}

}  // namespace fast_add_selfcheck

TEST_CASE("an addition to the neighbour is a write: who reads it plainly races with it") {
  auto table = course::DeviceBuffer<__half>::zeros(2),
       seen = course::DeviceBuffer<__half>::zeros(1);
  REQUIRE(course::expect_race([&] {
    read_the_neighbour<<<2, 1>>>(table.data(), seen.data());
    CUDA_CHECK_LAUNCH();
    table.download();
  }));
}

TEST_CASE("scatter_plus_zero turns neighbours that are -0.0 into +0.0, and is right otherwise") {
  const std::vector<int> index = {0, 3, 6};  // the neighbours 1, 2 and 7; 8 has none in the array
  const auto d_values = course::DeviceBuffer<__half>::from(std::vector<__half>(3, __half(1.0f)));
  const auto d_index = course::DeviceBuffer<int>::from(index);
  const std::vector<__half> zeros(9, number<__half>(-0.0));
  auto table = course::DeviceBuffer<__half>::from(zeros);
  scatter_plus_zero(d_values.data(), d_index.data(), 3, table.data(), 9, nullptr);
  const std::vector<__half> found = table.download();
  for (std::size_t t = 0; t < 9; ++t) {
    INFO("element " << t);
    const bool target = t == 0 || t == 3 || t == 6, neighbour = t == 1 || t == 2 || t == 7;
    REQUIRE(static_cast<float>(found[t]) == (target ? 1.0f : 0.0f));
    if (!target) REQUIRE((bits_of(found[t]) == 0x8000) == !neighbour);
  }
}

// ---- more than 2^31 -----------------------------------------------------------------------------

TEST_CASE("every scatter takes more than 2^31 updates") {
  constexpr std::size_t n = (std::size_t{1} << 31) + 77;
  constexpr int kTargets = 1 << 13;  // of which scatter_privatized can hold a table
  course::skip_without_memory(n * 6);
  course::DeviceBuffer<int> d_index(n);
  fill_index<<<4096, 256>>>(d_index.data(), n, kTargets);
  CUDA_CHECK_LAUNCH();
  auto d_values = course::DeviceBuffer<__half>::zeros(n);
  std::vector<__half> expected(kTargets, __half(0.0f));
  float value = 1.0f;
  for (const std::size_t i :
       {std::size_t{0}, (std::size_t{1} << 31) - 1, std::size_t{1} << 31, n - 3, n - 1}) {
    const auto half = __half(value);
    CUDA_CHECK(cudaMemcpy(d_values.data() + i, &half, sizeof half, cudaMemcpyHostToDevice));
    __half& target = expected[i % kTargets];
    target = __half(static_cast<float>(target) + value);
    value *= 2;
  }
  for (const ScatterRung& rung : kScatterRungs) {
    if (rung.name == "scatter_half" || rung.name == "scatter_in_parts, parts of 8") continue;
    INFO(rung.name << ": n = 2^31 + 77");
    auto table = course::DeviceBuffer<__half>::zeros(kTargets);
    rung.launch(d_values.data(), d_index.data(), n, table.data(), kTargets, nullptr);
    REQUIRE(course::same(table.download(), expected, "table"));
  }
}

TEST_CASE("every rung takes rows of more than 2^31 elements in all") {
  constexpr std::size_t kRows = (std::size_t{1} << 22) + 3, kWidth = 512;
  constexpr int kTableRows = 1 << 12;
  course::skip_without_memory(kRows * kWidth * sizeof(__half));
  course::DeviceBuffer<int> d_index(kRows);
  fill_index<<<4096, 256>>>(d_index.data(), kRows, kTableRows);
  CUDA_CHECK_LAUNCH();
  auto d_source = course::DeviceBuffer<__half>::zeros(kRows * kWidth);
  std::vector<__half> expected(kTableRows * kWidth, __half(0.0f));
  float value = 1.0f;
  for (const std::size_t i :
       {std::size_t{0}, (std::size_t{1} << 31) - 1, std::size_t{1} << 31, kRows * kWidth - 1}) {
    const auto half = __half(value);
    CUDA_CHECK(cudaMemcpy(d_source.data() + i, &half, sizeof half, cudaMemcpyHostToDevice));
    __half& target = expected[i / kWidth % kTableRows * kWidth + i % kWidth];
    target = __half(static_cast<float>(target) + value);
    value *= 2;
  }
  for (const RowsRung& rung : kRowsRungs) {
    INFO(rung.name << ": 2^22 + 3 rows of 512");
    auto table = course::DeviceBuffer<__half>::zeros(expected.size());
    rung.launch({d_source.data(), d_index.data(), kRows, kWidth}, table.data(), kTableRows,
                nullptr);
    REQUIRE(course::same(table.download(), expected, "table"));
  }
}
