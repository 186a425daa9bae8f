// What is wrong on purpose is wrong in the way that the lesson says: races that are found, and
// wrong values without a race.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "functions.cuh"
#include "inputs.cuh"
#include "rungs.cuh"

namespace atomic_functions_races {

struct AddInABlock {
  static __device__ int atomic(int* address, int value) { return atomicAdd_block(address, value); }
};

}  // namespace atomic_functions_races

using namespace atomic_functions_races;

TEST_CASE("block scope is too small for a grid of several blocks") {
  constexpr std::size_t n = 601;  // three blocks
  const auto d_values = course::DeviceBuffer<int>::from(course::position_values<int>(n));
  auto cell = course::DeviceBuffer<int>::zeros(1);
  course::DeviceBuffer<int> returned(n);
  INFO("atomicAdd_block, n = " << n);
  REQUIRE(course::expect_race([&] {
    course::launch(apply_global<AddInABlock, int>, {blocks_for(n), kBlockSize}, d_values.data(), n,
                   cell.data(), returned.data());
    CUDA_CHECK(cudaDeviceSynchronize());
  }));
}

TEST_CASE("an atomic flag is no fence: without one on each side there is a race") {
  constexpr std::size_t n = 40;
  for (const MessageRung& rung : message_rungs()) {
    if (rung.because.empty()) continue;
    INFO(rung.name << ", n = " << n);
    auto message = course::DeviceBuffer<int>::zeros(n), flag = course::DeviceBuffer<int>::zeros(n);
    auto received = course::DeviceBuffer<int>::zeros(n);
    course::Findings findings;
    REQUIRE(course::expect_race(
        [&] {
          rung.launch(n, message.data(), flag.data(), received.data());
          CUDA_CHECK(cudaDeviceSynchronize());
        },
        &findings));
    if (!findings.checked) continue;
    INFO(findings.texts.front());
    REQUIRE(findings.texts.front().find(rung.finding) != std::string::npos);
  }
}

TEST_CASE("sum_double_stale loses updates, and has no race") {
  const std::vector<double> x = course::position_values<double>(1024);
  const double sum = std::accumulate(x.begin(), x.end(), 0.0);
  const auto d_x = course::DeviceBuffer<double>::from(x);
  for (const StaleRung& rung : stale_rungs()) {
    auto y = course::DeviceBuffer<double>::zeros(1);
    course::count([&] { rung.launch(d_x.data(), x.size(), y.data()); });
    INFO(rung.name << ", n = " << x.size() << ": the sum is " << sum);
    REQUIRE(y.front() < sum);
    REQUIRE(y.front() > 0.0);
  }
}

TEST_CASE("max_as_int finds the smallest of negative numbers") {
  constexpr std::size_t n = 1025;
  for (const WrongMaxRung& rung : wrong_max_rungs()) {
    INFO(rung.name << ", n = " << n);
    const auto max_of = [&](const std::vector<float>& x) {
      const auto d_x = course::DeviceBuffer<float>::from(x);
      auto max = course::DeviceBuffer<float>::from({x.front()});
      rung.launch(d_x.data(), n, max.data());
      return max.front();
    };
    const std::vector<float> x = negative_values(n);
    REQUIRE(course::same(max_of(x), *std::min_element(x.begin(), x.end()),
                         "max of negative numbers, their smallest"));
    // One positive number hides it.
    REQUIRE(course::same(max_of(signed_values(n)), max_reference(signed_values(n)),
                         "max of numbers of both signs"));
  }
}
