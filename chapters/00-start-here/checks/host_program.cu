// Check of the exercise host_program: values, launch and time; then CUDA calls that fail, and what a
// call does not give back.
#include "host_program.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <course/timing.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checks/host_runs.cuh"
#include "checks/host_times.cuh"
#include "checks/products.cuh"

namespace {

using namespace host_runs;

constexpr Call kSmall = {1000, 3, 96};
constexpr Call kMuchWork =
    course::kCpuDevice ? Call{1u << 12, 1000, 256} : Call{1u << 16, 1u << 21, 256};
constexpr Call kMuchMemory = {course::kCpuDevice ? 1u << 17 : 1u << 24, 1, 256};
constexpr Call kTooMuchMemory = {std::size_t{1} << 38, 1, 1024};  // 3 TiB
/// Other programs may use the GPU, too. What is true of an answer is true of the quietest attempt.
constexpr int kAttempts = 10;

const Program program = host_program;

/// Ok if the program returns the time of the kernel alone. On a GPU the shortest of some calls
/// counts, and is compared with launches and copies that are measured here.
course::Verdict returns_kernel_time(const Call& c) {
  if (course::kCpuDevice) {
    const Ending ending = call_once(program, c);
    if (!ending.microseconds) return {false, "expected a time, found an exception"};
    return time_within(*ending.microseconds, ending.run->kernel_microseconds,
                       ending.run->room_microseconds);
  }
  const std::vector<std::uint32_t> x = fresh_numbers(c.n);
  course::DeviceBuffer<std::uint32_t> d_x(c.n);
  course::DeviceBuffer<std::uint64_t> d_y(c.n);
  double returned = 1e12, kernel = 1e12, copy = 1e12;
  for (int i = 0; i < kAttempts; ++i) {
    const course::HostTimer copying;
    d_x.upload(x);
    copy = std::min(copy, copying.microseconds());
    course::EventTimer timer;
    timer.start();
    course::launch(advance, {course::blocks_for(c.n, c.block), c.block}, d_x.data(), c.n, c.steps,
                   d_y.data());
    timer.stop();
    kernel = std::min(kernel, timer.microseconds());
    returned = std::min(returned, call_once(program, c).microseconds.value());
  }
  return time_within(returned, kernel / 4, 2 * kernel + copy / 2);
}

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

/// Ok if calls leave the GPU as much free memory as there was: only what is lost in each attempt is
/// a leak. The CPU device and compute-sanitizer tell of leaks themselves.
course::Verdict leaves_memory_free(unsigned block) {
  if (course::skip_large()) return {};
  const Call c = {std::size_t{1} << 22, 1, block};
  const std::size_t one_array = c.n * sizeof(std::uint32_t);
  std::size_t lost = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    call_once(program, c);
    const std::size_t before = free_memory();
    for (int i = 0; i < 3; ++i) call_once(program, c);
    const std::size_t after = free_memory();
    lost = before - std::min(before, after);
    if (lost < 2 * one_array) return {};
  }
  return {false, "three calls with n = " + std::to_string(c.n) + ", block " +
                     std::to_string(block) + " have taken " + std::to_string(lost >> 20) +
                     " MiB of the GPU's memory and not given them back"};
}

}  // namespace

TEST_CASE("host_program: y has all states when it returns, at every size") {
  for (const std::size_t n : course::all_sizes()) {
    for (const unsigned block : {96u, 256u}) {
      const Call c = {n, 3, block};
      INFO(text(c));
      if (n > 0) REQUIRE(writes_states(program, c));
    }
  }
}

TEST_CASE("host_program: the kernel takes the steps that the caller wants, in blocks of any size") {
  for (const unsigned steps : {0u, 1u, 100u}) {
    for (const unsigned block : {1u, 50u, 1000u, 1024u}) {
      const Call c = {kSmall.n, steps, block};
      INFO(text(c));
      REQUIRE(writes_states(program, c));
    }
  }
}

TEST_CASE("host_program: nothing is launched for no elements, and that is no error") {
  const Call c = {0, 3, 256};
  INFO(text(c));
  REQUIRE(writes_states(program, c));
  const Ending ending = call_once(program, c);
  REQUIRE(course::same(ending.microseconds.value(), 0.0, "microseconds"));
  if (ending.run) REQUIRE(course::same(ending.run->kernels, 0, "kernels"));
}

TEST_CASE("host_program: one kernel is launched, with the blocks that n elements need") {
  course::skip_without_counters();
  for (const std::size_t n : {1, 32, 257, 1024}) {
    for (const unsigned block : {32u, 50u, 1024u}) {
      const Call c = {n, 1, block};
      INFO(text(c));
      const auto counters = course::count([&] { call_once(program, c); });
      REQUIRE(products::grid_fits(*counters, n, block));
    }
  }
}

TEST_CASE("host_program: the time is that of the whole kernel") {
  INFO(text(kMuchWork));
  REQUIRE(returns_kernel_time(kMuchWork));
}

TEST_CASE("host_program: the time has no copy, memset or allocation in it") {
  INFO(text(kMuchMemory));
  REQUIRE(returns_kernel_time(kMuchMemory));
}

TEST_CASE("host_program: memory, events and streams are given back") {
  INFO(text(kSmall));
  REQUIRE(gives_everything_back(call_once(program, kSmall)));
  REQUIRE(leaves_memory_free(kSmall.block));
}

TEST_CASE("host_program: no error is left, and memory of the caller stays") {
  INFO(text(kSmall) << "; the caller has device memory of its own");
  const std::vector<int> values = course::position_values<int>(1000);
  const auto of_the_caller = course::DeviceBuffer<int>::from(values);
  REQUIRE(leaves_no_error(call_once(program, kSmall)));
  std::vector<int> after(values.size());
  const cudaError_t error =
      cudaMemcpy(after.data(), of_the_caller.data(), of_the_caller.bytes(), cudaMemcpyDeviceToHost);
  static_cast<void>(cudaGetLastError());
  INFO("the copy of it after the call: " << cudaGetErrorName(error));
  REQUIRE(course::same(after, values, "the caller's device memory"));
}

TEST_CASE("host_program: a launch that CUDA refuses is an exception, and all is given back") {
  course::skip_under_sanitizer();
  for (const unsigned block : {1025u, 2048u}) {
    const Call c = {kSmall.n, 1, block};
    INFO(text(c));
    const Ending ending = call_once(program, c);
    REQUIRE(tells_of({}, ending,
                     "CUDA refuses blocks of more than 1024 threads, and only a check "
                     "after the launch tells."));
    const bool is_refusal = *ending.thrown == cudaErrorInvalidConfiguration ||
                            *ending.thrown == cudaErrorInvalidValue;  // CUDA 13 on a GPU
    INFO("thrown: " << cudaGetErrorName(*ending.thrown));
    REQUIRE(is_refusal);
    REQUIRE(leaves_memory_free(block));
    REQUIRE(writes_states(program, kSmall));
  }
}

TEST_CASE("host_program: too little memory is an exception, and all is given back") {
  course::skip_under_sanitizer();
  Addresses<std::uint32_t> x(kTooMuchMemory.n);
  Addresses<std::uint64_t> y(kTooMuchMemory.n);
  if (x.data() == nullptr || y.data() == nullptr) SKIP("needs 3 TiB of addresses");
  INFO(text(kTooMuchMemory));
  REQUIRE(tells_of(cudaErrorMemoryAllocation, call(program, x.data(), kTooMuchMemory, y.data()),
                   "No device has so much memory."));
  if (course::kCpuDevice) {
    INFO("on purpose, the first CUDA call fails with " << cudaGetErrorName(kInjected));
    REQUIRE(tells_of(kInjected, call(program, x.data(), kTooMuchMemory, y.data(), 1),
                     "The first error counts."));
  }
  REQUIRE(writes_states(program, kSmall));
}

TEST_CASE("host_program: any CUDA call that fails is an exception, and all is given back") {
  if (!course::kCpuDevice) SKIP("a GPU's calls cannot be made to fail: build with -Ddevice=cpu");
  INFO(text(kSmall));
  REQUIRE(tells_of_every_failing_call(program, kSmall));
}
