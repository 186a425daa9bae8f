// Check of the exercise scale: the kernel under every grid that is large enough, then the host
// function that chooses the grid, with launches that CUDA refuses.
#include "scale.cuh"

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/grid.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using Launch = course::LaunchShape;

constexpr unsigned kBlocks[] = {32, 96, 256, 1024};  // threads of a block
constexpr unsigned kRefusedBlock = 2048;             // no device has blocks of this size

/// n values in device memory, and something that notices writes around them.
course::GuardedBuffer<float> on_device(const std::vector<float>& x) {
  course::GuardedBuffer<float> values(x.size());
  if (!x.empty()) {
    CUDA_CHECK(cudaMemcpy(values.data(), x.data(), values.bytes(), cudaMemcpyHostToDevice));
  }
  return values;
}

std::vector<float> multiplied(std::vector<float> x, float factor) {
  for (float& value : x) value *= factor;  // exact: the values are k/8, the factors are short
  return x;
}

std::string kernel_text(std::size_t n, Launch launch, float factor) {
  return "n = " + std::to_string(n) + "; " + course::launch_text("scale", launch) + ", factor " +
         course::number_text(factor);
}

std::string host_text(std::size_t n, unsigned block) {
  return "launch_scale(values, n = " + std::to_string(n) +
         ", factor 2, block = " + std::to_string(block) + ")";
}

void check_kernel(std::size_t n, Launch launch, float factor) {
  INFO(kernel_text(n, launch, factor));
  const std::vector<float> x = course::position_values<float>(n);
  auto values = on_device(x);
  course::launch(scale, {launch.grid, launch.block}, values.data(), n, factor);
  REQUIRE(course::same(values.download(), multiplied(x, factor), "values"));
  REQUIRE(values.intact("values"));
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
           ".\nCUDA_CHECK_LAUNCH(); behind the launch reads it, and says where.";
  } else if (after == x) {
    hint = "Nothing has changed: is the kernel launched, as scale<<<blocks, block>>>(...)?";
  }
  const course::Verdict verdict = course::same(after, multiplied(x, 2.0f), "values", hint);
  if (!verdict.ok) return verdict;
  if (unread != cudaSuccess) return {false, hint};
  return values.intact("values");
}

/// Ok if the host function throws when its launch is refused.
course::Verdict host_function_tells(std::size_t n, unsigned block) {
  auto values = on_device(course::position_values<float>(n));
  try {
    launch_scale(values.data(), n, 2.0f, block);
  } catch (const course::CudaError&) {
    return {};
  }
  return {false,
          "expected course::CudaError, found no exception; CUDA refuses blocks of more than 1024\n"
          "threads, and only who looks behind the launch learns of it"};
}

/// Ok if n elements got one launch, with the blocks that they need, of the size that was asked for.
course::Verdict grid_fits(const course::Counters& counters, std::size_t n, unsigned block) {
  const std::uint64_t needed = course::blocks_for(n, block);
  if (counters.launches != 1) {
    return {false, "launches: expected 1, found " + std::to_string(counters.launches)};
  }
  if (counters.blocks == needed && counters.threads == needed * block) return {};
  return {false, "grid: expected <<<" + std::to_string(needed) + ", " + std::to_string(block) +
                     ">>>, found <<<" + std::to_string(counters.blocks) + ", " +
                     std::to_string(counters.threads / counters.blocks) + ">>>"};
}

}  // namespace

TEST_CASE("scale: the kernel multiplies every value once") {
  for (const std::size_t n : course::all_sizes()) {
    for (const unsigned block : kBlocks) {
      if (n > 0) check_kernel(n, {course::blocks_for(n, block), block}, 2.0f);
    }
  }
}

TEST_CASE("scale: the kernel is right if the grid is larger than the array") {
  for (const std::size_t n : course::kSizes) {
    for (const unsigned block : kBlocks)
      check_kernel(n, {course::blocks_for(n, block) + 2, block}, 2.0f);
  }
}

TEST_CASE("scale: the kernel multiplies by the factor that it gets") {
  for (const float factor : {1.0f, 0.0f, -3.0f, 0.5f}) check_kernel(257, {3, 96}, factor);
}

TEST_CASE("scale: the kernel's threads share the work") {
  course::skip_without_counters();
  const auto counters = course::count([] { check_kernel(4096, {32, 128}, 2.0f); });
  INFO(kernel_text(4096, {32, 128}, 2.0f));
  REQUIRE(course::work_is_shared(*counters, 16));  // one turn of a loop is enough for each warp
}

TEST_CASE("scale: the host function multiplies every value at every size") {
  for (const std::size_t n : course::all_sizes()) {
    for (const unsigned block : kBlocks) {
      if (n == 0) continue;  // has a test of its own
      INFO(host_text(n, block));
      REQUIRE(host_function_scales(n, block));
    }
  }
}

TEST_CASE("scale: the host function does nothing for no elements") {
  INFO(host_text(0, 256));
  REQUIRE(host_function_scales(0, 256));
}

TEST_CASE("scale: the host function launches the blocks that n elements need") {
  course::skip_without_counters();
  for (const std::size_t n : {1, 32, 257, 1024}) {
    for (const unsigned block : kBlocks) {
      INFO(host_text(n, block));
      const auto counters = course::count([&] { REQUIRE(host_function_scales(n, block)); });
      REQUIRE(grid_fits(*counters, n, block));
    }
  }
}

TEST_CASE("scale: the host function says so if CUDA refuses the launch") {
  course::skip_under_sanitizer();
  INFO(host_text(4096, kRefusedBlock));
  REQUIRE(host_function_tells(4096, kRefusedBlock));
}
