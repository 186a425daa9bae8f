// Device memory with an owner, guard bands, and what errors say.
#include <course/check.cuh>
#include <course/error.cuh>
#include <course/placed.cuh>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using course::DeviceBuffer;
using course::GuardedBuffer;

namespace {

__global__ void add_one(std::size_t n, int* d_x) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_x[i] += 1;
}

/// Writes one element at any distance from d_x, also outside of it.
__global__ void write_at(int* d_x, std::ptrdiff_t i) { d_x[i] = 7; }

/// what() of the CudaError that `work` throws; empty if it throws none.
template <class Work>
std::string cuda_error_text(Work work, cudaError_t expected) {
  try {
    work();
  } catch (const course::CudaError& error) {
    CHECK(error.code() == expected);
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

// ---- DeviceBuffer ------------------------------------------------------------------------------

TEST_CASE("a buffer carries data to the device and back") {
  std::vector<int> expected = course::position_values<int>(1000);
  auto d_x = DeviceBuffer<int>::from(expected);
  CHECK(d_x.size() == 1000);
  CHECK(d_x.bytes() == 4000);
  add_one<<<4, 256>>>(d_x.size(), d_x.data());
  CUDA_CHECK_LAUNCH();
  for (int& x : expected) ++x;
  CHECK(course::same(d_x.download(), expected, "x"));
  CHECK(d_x.front() == expected[0]);
}

TEST_CASE("a buffer can be zeroed and filled") {
  auto d_x = DeviceBuffer<std::uint32_t>::zeros(33);
  CHECK(course::same(d_x.download(), std::vector<std::uint32_t>(33, 0), "x"));
  d_x.fill_bytes(0xAB);
  CHECK(course::same(d_x.download(), std::vector<std::uint32_t>(33, 0xABABABABu), "x"));
}

TEST_CASE("an empty buffer is a buffer") {
  DeviceBuffer<float> none(0);
  CHECK(none.data() == nullptr);
  CHECK(none.download().empty());
  none.fill_bytes(1);
  none.upload({});
  CHECK_THROWS_AS(none.front(), std::out_of_range);
  CHECK(DeviceBuffer<float>::from({}).size() == 0);
}

TEST_CASE("moving a buffer moves its memory") {
  auto a = DeviceBuffer<int>::from({1, 2, 3});
  int* const memory = a.data();
  DeviceBuffer<int> b = std::move(a);
  CHECK(b.data() == memory);
  CHECK(a.data() == nullptr);  // NOLINT: what a moved-from buffer looks like is the question
  CHECK(a.size() == 0);
  auto c = DeviceBuffer<int>::from({4});
  c = std::move(b);
  CHECK(c.data() == memory);
  CHECK(course::same(c.download(), {1, 2, 3}, "c"));
}

TEST_CASE("an upload of another size is refused") {
  DeviceBuffer<int> d_x(3);
  CHECK_THROWS_AS(d_x.upload({1, 2}), std::invalid_argument);
}

// ---- GuardedBuffer -----------------------------------------------------------------------------

TEST_CASE("guard bands notice the first byte outside") {
  // With a band on the CPU device, too: write_at stays inside the allocation.
  constexpr std::size_t kBand = 16;
  GuardedBuffer<int> y(10, kBand);
  CHECK(y.intact("y"));
  write_at<<<1, 1>>>(y.data(), 0);
  write_at<<<1, 1>>>(y.data(), 9);
  CHECK(y.intact("y"));
  SECTION("after the end") {
    write_at<<<1, 1>>>(y.data(), 12);
    CHECK(y.intact("y").text ==
          "y: a kernel wrote outside the array, 8 bytes after its last element");
  }
  SECTION("right after the end") {
    write_at<<<1, 1>>>(y.data(), 10);
    CHECK(y.intact("y").text ==
          "y: a kernel wrote outside the array, right after its last element");
  }
  SECTION("before the start") {
    write_at<<<1, 1>>>(y.data(), -2);
    CHECK(y.intact("y").text ==
          "y: a kernel wrote outside the array, 5 bytes before its first element");
  }
}

TEST_CASE("what no kernel wrote reads as poison") {
  GuardedBuffer<float> y(3, 4);
  const std::vector<float> poison = y.download();
  for (const float value : poison) CHECK(value != value);
  y.fill_bytes(0);
  CHECK(course::same(y.download(), {0, 0, 0}, "y"));
  CHECK(y.intact("y"));
}

TEST_CASE("guarded buffers may be empty") {
  GuardedBuffer<int> y(0);
  CHECK(y.download().empty());
  CHECK(y.intact("y"));
  CHECK(y.data() != nullptr);
}

TEST_CASE("a write into a guarded buffer without elements is no null pointer") {
  course::skip_without_checker();
  GuardedBuffer<int> y(0);
  const auto found = course::find_races([&] { write_at<<<1, 1>>>(y.data(), 0); });
  REQUIRE(found.others == 1);
  CHECK(found.texts[0].find("y[0], just past the end of y (0 elements)") != std::string::npos);
}

// ---- CudaError ---------------------------------------------------------------------------------

TEST_CASE("a launch that CUDA refuses says what to look at") {
  const auto launch = [](unsigned grid, unsigned block) {
    add_one<<<grid, block>>>(std::size_t{0}, static_cast<int*>(nullptr));
    CUDA_CHECK_LAUNCH();
  };
  const auto [grid, block] = GENERATE(std::pair{1u, 2000u}, std::pair{0u, 256u}, std::pair{1u, 0u});
  CAPTURE(grid, block);
  std::string text;
  try {
    launch(grid, block);
  } catch (const course::CudaError& error) {
    text = error.what();
  }
  // cudaErrorInvalidConfiguration, or cudaErrorInvalidValue with newer drivers.
  CHECK(text.starts_with("the kernel launch before this line failed: cudaErrorInvalid"));
  CHECK(contains(text, "memory_test.cu:"));
  const char* const why = !course::kCpuDevice ? "Check <<<grid, block, shared bytes>>>: is the grid"
                          : block == 2000     ? "The block has 2000 threads, and 1024 is the most."
                          : grid == 0         ? "The grid has 0 blocks."
                                              : "The block has 0 threads.";
  CHECK(contains(text, why));
  CHECK(cudaGetLastError() == cudaSuccess);  // the error was taken, the next launch starts afresh
}

TEST_CASE("more memory than there is") {
  const std::string text =
      cuda_error_text([] { DeviceBuffer<char> all(std::numeric_limits<std::size_t>::max() / 4); },
                      cudaErrorMemoryAllocation);
  CHECK(contains(text, "cudaMalloc(&data_, n * sizeof(T)) failed: cudaErrorMemoryAllocation"));
  CHECK(contains(text, "The device's memory is full"));
  CHECK(cudaGetLastError() == cudaSuccess);  // the exception was the error's end
}

TEST_CASE("a failed call names its expression") {
  const std::string text =
      cuda_error_text([] { CUDA_CHECK(cudaSetDevice(99)); }, cudaErrorInvalidDevice);
  CHECK(contains(text, "cudaSetDevice(99) failed: cudaErrorInvalidDevice"));
  CHECK(cudaGetLastError() == cudaSuccess);  // the exception was the error's end
}

TEST_CASE("sticky errors are those that end a GPU's context") {
  CHECK(course::is_sticky(cudaErrorIllegalAddress));
  CHECK(course::is_sticky(cudaErrorMisalignedAddress));
  CHECK(course::is_sticky(cudaErrorAssert));
  CHECK_FALSE(course::is_sticky(cudaErrorInvalidConfiguration));
  CHECK_FALSE(course::is_sticky(cudaErrorMemoryAllocation));
  CHECK_FALSE(course::is_sticky(cudaSuccess));
}

TEST_CASE("Placed begins so many elements after a multiple of 64 bytes") {
  for (const std::size_t offset : {0u, 1u, 3u}) {
    for (const std::size_t n : {0u, 1u, 5u}) {
      const std::vector<short> values(n, 7);
      course::Placed<short> array(values, offset);
      REQUIRE(reinterpret_cast<std::uintptr_t>(array.data()) % 64 == offset * sizeof(short));
      REQUIRE(array.size() == n);
      REQUIRE(array.download() == values);
      REQUIRE(array.intact("array"));
    }
  }
}

TEST_CASE("Placed notices what a kernel writes before it, on a GPU") {
  if (course::kCpuDevice)
    SKIP("the CPU device reports reads there, and unallocated bytes have no value");
  course::Placed<short> array({1, 2}, 3);
  CUDA_CHECK(cudaMemset(array.data() - 1, 0, sizeof(short)));
  REQUIRE_FALSE(array.intact("array"));
}
