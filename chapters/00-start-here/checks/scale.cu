// Check of the exercise scale: the kernel under every grid that is large enough and with every kind
// of float, then the host function that chooses the grid, with launches that CUDA refuses.
#include "scale.cuh"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <course/grid.cuh>
#include <course/guarded.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "checks/grid_fits.cuh"

namespace scale_check {

using Launch = course::LaunchShape;

constexpr unsigned kBlocks[] = {32, 96, 256, 1024};  // threads of a block
constexpr unsigned kRefusedBlocks[] = {1025, 2048};  // no device has blocks of these sizes

// ---- the kernel ---------------------------------------------------------------------------------

/// n values in device memory, and something that notices writes around them.
course::GuardedBuffer<float> on_device(const std::vector<float>& x) {
  course::GuardedBuffer<float> values(x.size());
  if (x.empty()) return values;
  CUDA_CHECK(cudaMemcpy(values.data(), x.data(), values.bytes(), cudaMemcpyHostToDevice));
  return values;
}

std::vector<float> multiplied(std::vector<float> x, float factor) {
  for (float& value : x) value *= factor;
  return x;
}

/// What a message says of the inputs of values[i].
course::Inputs inputs_of(const std::vector<float>& x, float factor) {
  return [=](std::size_t i) {
    return course::number_text(x[i]) + ", which it held before, and the factor " +
           course::number_text(factor);
  };
}

/// Ok if every product has the right bits; of a NaN any bits are right.
course::Verdict same_floats(const std::vector<float>& found, const std::vector<float>& x,
                            float factor) {
  std::string text;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float product = x[i] * factor;
    const bool both_nan = std::isnan(found[i]) && std::isnan(product);
    if (both_nan || std::bit_cast<unsigned>(found[i]) == std::bit_cast<unsigned>(product)) continue;
    if (++wrong > 4) continue;
    text += "values[" + std::to_string(i) + "]: expected " + course::number_text(product) +
            ", found " + course::number_text(found[i]) + ", computed from " +
            inputs_of(x, factor)(i) + "\n";
  }
  if (wrong == 0) return {};
  return {false, text + std::to_string(wrong) + " of " + course::counted(x.size(), "element") +
                     (wrong == 1 ? " is wrong" : " are wrong")};
}

std::string kernel_text(std::size_t n, Launch launch, float factor) {
  return "n = " + std::to_string(n) + "; " + course::launch_text("scale", launch) + ", factor " +
         course::number_text(factor);
}

void check_kernel(std::size_t n, Launch launch, float factor) {
  INFO(kernel_text(n, launch, factor));
  const std::vector<float> x = course::position_values<float>(n);
  auto values = on_device(x);
  course::launch(scale, {launch.grid, launch.block}, values.data(), n, factor);
  REQUIRE(course::same(values.download(), multiplied(x, factor), "values", inputs_of(x, factor)));
  REQUIRE(values.intact("values"));
}

// ---- the host function --------------------------------------------------------------------------

std::string host_text(std::size_t n, unsigned block, float factor = 2) {
  return "launch_scale(values, n = " + std::to_string(n) + ", factor " +
         course::number_text(factor) + ", block = " + std::to_string(block) + ")";
}

/// CUDA refused a launch: an invalid configuration, which CUDA 13 on a GPU calls an invalid value.
bool is_refusal(cudaError_t code) {
  return code == cudaErrorInvalidConfiguration || code == cudaErrorInvalidValue;
}

/// Ok if the host function scales the values. A launch that CUDA refuses is a wrong answer, whether
/// it threw or left an error that no call has read.
course::Verdict host_function_scales(std::size_t n, unsigned block) {
  const std::vector<float> x = course::position_values<float>(n);
  auto values = on_device(x);
  try {
    launch_scale(values.data(), n, 2.0f, block);
  } catch (const course::CudaError& error) {
    if (!is_refusal(error.code())) throw;
    return {false, error.what()};
  }
  const cudaError_t unread = cudaGetLastError();
  const std::vector<float> after = values.download();
  std::string hint;
  if (unread != cudaSuccess) {
    hint = "CUDA holds an error that launch_scale did not read: " +
           std::string(cudaGetErrorName(unread)) +
           ".\nCUDA_CHECK_LAUNCH(); after the launch reads it, and says where.";
  } else if (after == x) {
    hint = "Nothing has changed: is the kernel launched, as scale<<<blocks, block>>>(...)?";
  }
  const course::Verdict verdict = course::same(after, multiplied(x, 2.0f), "values", hint);
  if (!verdict.ok) return verdict;
  if (unread != cudaSuccess) return {false, hint};
  return values.intact("values");
}

/// Ok if the host function throws when its launch is refused.
course::Verdict host_function_tells(std::size_t n, unsigned block, float factor) {
  auto values = on_device(course::position_values<float>(n));
  try {
    launch_scale(values.data(), n, factor, block);
  } catch (const course::CudaError&) {
    return {};
  }
  return {false,
          "expected course::CudaError, found no exception; CUDA refuses blocks of more than 1024\n"
          "threads, and only a check after the launch reports that"};
}

// Promise: the kernel multiplies each of values[0..n-1] by factor.
// Promise: threads left over touch nothing (OUT OF BOUNDS or DATA RACE; on a GPU the guard bands
// show it).
TEST_CASE("scale: the kernel multiplies every value once") {
  for (const std::size_t n : course::all_sizes()) {
    for (const unsigned block : kBlocks) {
      if (n > 0) check_kernel(n, {course::blocks_for(n, block), block}, 2.0f);
    }
  }
}

// Promise: the kernel is right for every grid with at least n threads.
TEST_CASE("scale: the kernel is right in larger grids, and in blocks that are no whole warps") {
  for (const std::size_t n : course::kSizes) {
    for (const unsigned block : {32u, 96u, 256u, 1024u, 1u, 50u, 1000u}) {
      check_kernel(n, {course::blocks_for(n, block) + 2, block}, 2.0f);
    }
  }
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("scale: the kernel is right in a grid of more than 2^32 threads") {
  course::in_huge_grids(65, [](course::LaunchShape grid) { check_kernel(65, grid, 2.0f); });
}

// Promise: the factor is any number, and that of the caller.
TEST_CASE("scale: the kernel multiplies by the factor that it gets") {
  for (const float factor : {1.0f, 0.0f, -3.0f, 0.5f}) check_kernel(257, {3, 96}, factor);
}

// Promise: each product has the bits that the multiplication of two floats has.
TEST_CASE("scale: the kernel multiplies every kind of float") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kLargest = std::numeric_limits<float>::max();
  const std::vector<float> x = {0.0f,       -0.0f,    1.0f / 3,  -1.0f / 3, 16777215.0f, 0x1p-149f,
                                -0x1p-130f, kLargest, -kLargest, kInfinity, -kInfinity,  NAN};
  for (const float factor : {1.0f / 3, -0.0f, 0.0f, 1e-30f, 1e30f, kInfinity, float{NAN}}) {
    INFO("n = 12: zeros, subnormals, infinities, NaN, and numbers that use all 24 bits; "
         << course::launch_text("scale", {1, 32}) << ", factor " << course::number_text(factor));
    auto values = on_device(x);
    course::launch(scale, {1, 32}, values.data(), x.size(), factor);
    REQUIRE(same_floats(values.download(), x, factor));
  }
}

// Promise: every thread takes one element: the threads share the work.
TEST_CASE("scale: each thread of the kernel takes one element") {
  course::skip_without_counters();
  const auto counters = course::count([] { check_kernel(4096, {32, 128}, 2.0f); });
  INFO(kernel_text(4096, {32, 128}, 2.0f));
  REQUIRE(course::at_most(counters->global_stores, 128, "stores of the 128 warps",
                          "4096 threads share 4096 elements, so one store per warp is enough"));
  // An element that the source names twice is loaded twice, by every warp.
  const std::uint64_t share = (counters->global_loads + counters->global_stores) / 128 + 1;
  REQUIRE(course::at_most(counters->busiest_warp_requests, share, "loads and stores of one warp",
                          "each of the 128 warps has as much to do"));
}

// Promise: the host function launches the kernel (DEVICE POINTER USED BY THE HOST if it does the
// work itself).
TEST_CASE("scale: the host function multiplies every value at every size") {
  for (const std::size_t n : course::all_sizes()) {
    for (const unsigned block : kBlocks) {
      if (n == 0) continue;  // has a test of its own
      INFO(host_text(n, block));
      REQUIRE(host_function_scales(n, block));
    }
  }
}

// Promise: it launches any number of blocks below 2^31.
TEST_CASE("scale: the host function launches more than 65,535 blocks where they are needed") {
  INFO(host_text(65'600, 1));
  REQUIRE(host_function_scales(65'600, 1));
}

// Promise: n == 0 launches nothing and is no error, also with blocks that CUDA would refuse.
TEST_CASE("scale: the host function does nothing for no elements") {
  for (const unsigned block : {256u, 2048u}) {
    INFO(host_text(0, block));
    const auto counters = course::count([&] { REQUIRE(host_function_scales(0, block)); });
    if (counters) REQUIRE(course::none(counters->launches, "launches"));
  }
}

// Promise: it launches as many blocks of `block` threads as n elements need, and not more.
TEST_CASE("scale: the host function launches the blocks that n elements need") {
  course::skip_without_counters();
  for (const std::size_t n : {1, 32, 257, 1024}) {
    for (const unsigned block : {32u, 96u, 256u, 1024u, 1u, 50u, 1000u}) {
      INFO(host_text(n, block));
      const auto counters = course::count([&] { REQUIRE(host_function_scales(n, block)); });
      REQUIRE(grid_checks::grid_fits(*counters, n, block));
    }
  }
}

// Promise: it launches any number of blocks below 2^31, for more than 2^32 elements, too (the CPU device
// runs none of them: what counts is the grid).
TEST_CASE("scale: the host function launches the blocks that more than 2^32 elements need") {
  course::skip_without_counters();
  constexpr std::size_t kBillion = std::size_t{1} << 30;
  struct Case {
    std::size_t n;
    unsigned block;
  };
  for (const auto& [n, block] : {Case{4 * kBillion + 1, 32}, Case{4 * kBillion, 1024},
                                 Case{2 * kBillion - 1, 1}, Case{2048 * kBillion - 1024, 1024}}) {
    INFO(host_text(n, block));
    course::DeviceBuffer<float> values(1);
    const auto counters = course::count([&, n = n, block = block] {
      course::with_some_blocks(0, 0, [&] { launch_scale(values.data(), n, 2.0f, block); });
    });
    REQUIRE(grid_checks::grid_fits(*counters, n, block));
  }
}

// Promise: a launch that CUDA refuses throws course::CudaError.
TEST_CASE("scale: the host function says so if CUDA refuses the launch") {
  course::skip_under_sanitizer();
  for (const unsigned block : kRefusedBlocks) {
    for (const float factor : {2.0f, 1.0f, 0.0f}) {
      INFO(host_text(4096, block, factor));
      REQUIRE(host_function_tells(4096, block, factor));
    }
  }
}

// Promise: a launch that CUDA refuses throws, and no other one does: CUDA keeps an error until it is read.
TEST_CASE("scale: the host function works again after a launch that CUDA has refused") {
  course::skip_under_sanitizer();
  for (const unsigned block : kRefusedBlocks) {
    INFO("after a call with block = "
         << block << ", which throws, and with nothing between that reads CUDA's error");
    REQUIRE(host_function_tells(4096, block, 2.0f));
    INFO(host_text(4096, 256));
    REQUIRE(host_function_scales(4096, 256));
  }
}

/// Ok if the elements around `middle` are 2 * x. The array has n elements, more than a host copies.
course::Verdict doubled_around(std::size_t middle, const course::DeviceBuffer<float>& values,
                               float x) {
  const std::size_t first = std::max<std::size_t>(middle, 500) - 500;
  std::vector<float> found(std::min<std::size_t>(1000, values.size() - first));
  CUDA_CHECK(cudaMemcpy(found.data(), values.data() + first, found.size() * sizeof(float),
                        cudaMemcpyDeviceToHost));
  return course::same(found, std::vector<float>(found.size(), 2 * x),
                      "(values + " + std::to_string(first) + ")",
                      "each one held " + course::number_text(x) + " before");
}

// Promise: n is any number that fits in std::size_t (GPU only).
TEST_CASE("scale: kernel and host function multiply more than 2^32 values") {
  constexpr std::size_t n = (std::size_t{1} << 32) + 1000;
  course::skip_without_memory(n * sizeof(float));
  constexpr int kByte = 0x3F;
  const float x = std::bit_cast<float>(0x3F3F'3F3Fu);
  course::DeviceBuffer<float> values(n);
  values.fill_bytes(kByte);
  INFO(host_text(n, 256));
  launch_scale(values.data(), n, 2.0f, 256);
  for (const std::size_t middle : {std::size_t{0}, n / 2, std::size_t{1} << 32, n}) {
    REQUIRE(doubled_around(middle, values, x));
  }
}

}  // namespace scale_check
