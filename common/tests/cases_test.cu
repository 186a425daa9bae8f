// Kinds of test data, the words of a case, and course::launch.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/grid.cuh>
#include <cstddef>
#include <string>
#include <vector>

namespace cases_test {

constexpr unsigned kThreads = 4;

template <class T>
__global__ void shift(const T* d_x, std::size_t n, T by, T* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_y[i] = d_x[i] + by;
}

__global__ void shift_in_shared_memory(int by, int* d_y) {
  extern __shared__ int s_y[];
  s_y[threadIdx.x] = static_cast<int>(threadIdx.x) + by;
  d_y[blockIdx.x * blockDim.x + threadIdx.x] = s_y[threadIdx.x];
}

__global__ void past_the_end(int* d_y) { d_y[threadIdx.x + 1] = 1; }

}  // namespace cases_test

using namespace cases_test;

TEST_CASE("a kind of data makes each element from its index, the size and a number of its own") {
  const course::DataKind<float> kind{"the last one is negative", [](course::Element e) {
                                       return e.i + 1 == e.n ? -1.0f : 1.0f * e.random;
                                     }};
  const std::vector<float> x = kind.values(33);
  const std::vector<int> random = course::position_values<int>(33);
  REQUIRE(x.size() == 33);
  REQUIRE(x[7] == static_cast<float>(random[7]));
  REQUIRE(x.back() == -1.0f);
  REQUIRE(kind.values(33) == x);
  REQUIRE(kind.values(0).empty());
}

TEST_CASE("each size meets each kind, and the launches change from case to case") {
  const char* const kinds[] = {"first", "second", "third"};
  const auto cases = course::cases_of({0, 40}, kinds);
  REQUIRE(cases.size() == 6);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::size_t n = i < 3 ? 0 : 40;
    REQUIRE(cases[i].n == n);
    REQUIRE(cases[i].kind == kinds[i % 3]);
    REQUIRE(cases[i].launch.grid == course::launch_shapes(n)[i].grid);
    REQUIRE(cases[i].launch.block == course::launch_shapes(n)[i].block);
  }
}

TEST_CASE("a case names its size, its data and its launch") {
  REQUIRE(course::launch_text("sum", {4, 256}) == "sum<<<4, 256>>>");
  REQUIRE(course::case_text(7, "all equal", "sum", {4, 256}, 1024) ==
          "n = 7: all equal; sum<<<4, 256, 1024>>>");
}

TEST_CASE("each wrong prediction has a line, and advice if one was made") {
  const course::Prediction right{"f<<<1, 32>>>", {1, 4}, {1, 4}, "a"};
  const course::Prediction none{"g<<<1, 32>>>", {0, 0}, {1, 32}, "b"};
  const course::Prediction wrong{"h<<<1, 64>>>", {1, 4}, {2, 8}, "c"};
  REQUIRE(course::all_right({right, right}, "sector"));
  const course::Verdict verdict = course::all_right({right, none, wrong}, "sector");
  REQUIRE_FALSE(verdict.ok);
  REQUIRE(verdict.text ==
          "1 of 3 predictions are right\n"
          "g<<<1, 32>>>: no prediction yet\n"
          "h<<<1, 64>>>: predicted 1 request and 4 sectors, " +
              std::string(course::kCpuDevice ? "measured" : "expected") + " 2 and 8\n  c");
  REQUIRE(course::all_right({{"i", {0, 0}, {0, 0}, ""}}, "atomic"));
}

TEST_CASE("one is told from many") {
  REQUIRE(course::counted(1, "row") == "1 row");
  REQUIRE(course::counted(0, "row") == "0 rows");
  REQUIRE(course::counted(2, "half", "halves") == "2 halves");
  REQUIRE(course::counted(1, "half", "halves") == "1 half");
}

TEST_CASE("what may happen a few times, or never, is said with what was found") {
  REQUIRE(course::at_most(4, 4, "atomics").ok);
  REQUIRE(course::at_most(5, 4, "atomics").text == "atomics: expected at most 4, found 5");
  REQUIRE(course::at_most(5, 4, "atomics", "one per block").text ==
          "atomics: expected at most 4, found 5; one per block");
  REQUIRE(course::none(0, "barriers").ok);
  REQUIRE(course::none(2, "barriers", "a warp needs none").text ==
          "barriers: expected none, found 2; a warp needs none");
}

TEST_CASE("course::launch runs a kernel, and a template with its arguments") {
  const std::vector<int> x = course::position_values<int>(10);
  const auto d_x = course::DeviceBuffer<int>::from(x);
  course::GuardedBuffer<int> y(10);
  course::launch(shift<int>, {course::blocks_for(10, kThreads), kThreads}, d_x.data(), x.size(), 5,
                 y.data());
  std::vector<int> expected = x;
  for (int& value : expected) value += 5;
  REQUIRE(course::same(y.download(), expected, "y"));
}

TEST_CASE("course::launch hands on dynamic shared memory, and skips a grid of no blocks") {
  course::GuardedBuffer<int> y(2 * kThreads);
  course::launch(shift_in_shared_memory, {2, kThreads, kThreads * sizeof(int)}, 3, y.data());
  REQUIRE(course::same(y.download(), {3, 4, 5, 6, 3, 4, 5, 6}, "y"));
  y.fill_bytes(0);
  course::launch(shift_in_shared_memory, {0, kThreads, kThreads * sizeof(int)}, 3, y.data());
  course::launch(shift_in_shared_memory, {dim3(2, 0), kThreads, kThreads * sizeof(int)}, 3,
                 y.data());
  REQUIRE(course::same(y.download(), std::vector<int>(2 * kThreads, 0), "y"));
}

TEST_CASE("a launch that CUDA refuses throws, and names the line of course::launch") {
  course::skip_under_sanitizer();
  course::GuardedBuffer<int> y(1);
  std::string text;
  try {
    course::launch(past_the_end, {1, 1025}, y.data());
  } catch (const course::CudaError& error) {
    text = error.what();
  }
  const std::string line = "cases_test.cu:" + std::to_string(__LINE__ - 4);
  INFO(text);
  REQUIRE(text.find(line) != std::string::npos);
}

TEST_CASE("a finding calls kernel and memory as course::launch names them") {
  course::skip_without_checker();
  auto y = course::DeviceBuffer<int>::zeros(4);
  int* const d_counts = y.data();
  const course::Findings findings = course::find_races([&] {
    course::launch(past_the_end, {1, 4}, d_counts);
    CUDA_CHECK(cudaDeviceSynchronize());
  });
  REQUIRE(findings.texts.size() == 1);
  INFO(findings.texts.front());
  REQUIRE(findings.texts.front().find("in kernel past_the_end: write of 4 bytes at d_counts[4]") !=
          std::string::npos);
}

#if COURSE_CPU_DEVICE
namespace cases_test {

__global__ void meet(unsigned barriers) {
  for (unsigned k = 0; k < barriers; ++k) __syncthreads();
}

std::size_t taken_of(std::size_t cases, unsigned blocks, unsigned barriers) {
  course::CasesInTime in_time([&] { meet<<<blocks, 256>>>(barriers); });
  std::size_t taken = 0;
  for (std::size_t k = 0; k < cases; ++k) taken += in_time.take() ? 1 : 0;
  return taken;
}

}  // namespace cases_test

TEST_CASE("all cases are tried but for an answer whose calls take many threads through barriers") {
  CHECK(taken_of(40, 4, 3) == 40);
  CHECK(taken_of(40, 264, 0) == 40);
  CHECK(taken_of(40, 264, 2) == 5);  // (6,758 + 135,168) / 20,000 + 1: one in 8
}

namespace cases_test {

/// d_counts[0]: the blocks that run; d_counts[1]: those of them that are the last one.
__global__ void count_blocks(unsigned* d_counts) {
  if (threadIdx.x != 0) return;
  atomicAdd(&d_counts[0], 1u);
  if (blockIdx.x == gridDim.x - 1) atomicAdd(&d_counts[1], 1u);
}

}  // namespace cases_test

TEST_CASE("a huge grid has more than 2^32 threads, and then more than 2^32 warps") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks");
  std::vector<std::size_t> warps;
  course::in_huge_grids(3, [&](course::LaunchShape grid) {
    auto counts = course::DeviceBuffer<unsigned>::zeros(2);
    course::launch(count_blocks, {grid.grid, grid.block}, counts.data());
    CHECK(counts.download() == std::vector<unsigned>{4, 1});
    warps.push_back(std::size_t{grid.grid} * (grid.block / 32));
  });
  CHECK(warps == std::vector<std::size_t>{(1u << 27) + 1, (std::size_t{1} << 32) + 32});
}

TEST_CASE("of calls with the same cell, and with the same value, it is told how many are right") {
  const std::vector<int> cells = {1, 1, 1, 2, 2}, values = {7, 8, 9, 8, 8};
  const auto told = [&](std::size_t wrong, std::vector<bool> right) {
    return course::alike_text(cells, values, wrong, [&](std::size_t i) { return right[i]; });
  };
  CHECK(told(1, {true, false, true, false, false}) ==
        "\nOf 3 calls for a cell that held this 2 are right, of 3 with this value 0.");
  CHECK(told(4, {false, false, false, true, false}) ==
        "\nOf 2 calls for a cell that held this 1 is right, of 3 with this value 1.");
}

TEST_CASE("loads, stores and atomics that are too many are told with their lines") {
  const auto x = course::DeviceBuffer<int>::zeros(256);
  course::DeviceBuffer<int> y(256);
  const auto counters = course::count([&] {
    shift<<<2, 128>>>(x.data(), x.size(), 1, y.data());
    shift<<<1, 128>>>(x.data(), 128, 1, y.data());
  });
  const std::uint64_t stores = course::kCpuDevice ? counters->global_store_lanes : 384;
  const std::string text = course::at_most(stores, 4, "stores of single lanes").text;
  const std::string first = "stores of single lanes: expected at most 4, found 384";
  if (!course::kCpuDevice) {
    CHECK(text == first);
    return;
  }
  INFO(text);
  CHECK(text.rfind(first + "\n384 of y at common/tests/cases_test.cu:", 0) == 0);
  // A number that no counter has, and one of another kind.
  CHECK(course::at_most(stores + 1, 4, "stores of single lanes").text.find('\n') ==
        std::string::npos);
  CHECK(course::at_most(stores, 4, "atomics").text == "atomics: expected at most 4, found 384");
}

TEST_CASE("what kernels load is counted in sectors, and the host's work is none") {
  const auto x = course::DeviceBuffer<int>::zeros(256);
  course::DeviceBuffer<int> y(256);
  const auto by_kernel = course::count([&] { shift<<<2, 128>>>(x.data(), x.size(), 1, y.data()); });
  const auto by_host = course::count([&] { static_cast<void>(x.download()); });
  CHECK(course::kernels_load(*by_kernel, 1024));
  CHECK_FALSE(course::kernels_load(*by_kernel, 1025));
  CHECK(course::kernels_load(*by_host, 1024).text ==
        "bytes that kernels load from global memory: expected at least 1024, found 0; kernels do "
        "the work, not the host");
}
#endif
