// Every rung of this chapter is right at every awkward size, and what is wrong on purpose is wrong
// in the way that the lesson says.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "rungs.cuh"

namespace {

/// An output of n elements that all hold `value`.
template <class T>
course::GuardedBuffer<T> output(std::size_t n, T value) {
  course::GuardedBuffer<T> buffer(n);
  const std::vector<T> values(n, value);
  if (n > 0) {
    CUDA_CHECK(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
  }
  return buffer;
}

}  // namespace

TEST_CASE("sum_global_atomic adds every element once") {
  for (const std::size_t n : course::all_sizes()) {
    INFO("n = " << n);
    const std::vector<float> x = course::position_values<float>(n);  // sums of these are exact
    const auto d_x = course::DeviceBuffer<float>::from(x);
    const auto expected = static_cast<float>(sum_reference(x));
    for (const SumRung& rung : sum_rungs()) {
      if (!rung.because.empty()) continue;
      INFO(rung.name);
      auto y = output(1, 0.5f);
      rung.launch(d_x.data(), n, y.data());
      REQUIRE(course::same(y.download().front(), expected + 0.5f, "y"));
      REQUIRE(y.intact("y"));
    }
    REQUIRE(course::same(sum_global_atomic(d_x.data(), n), expected, "sum of the host wrapper"));
  }
}

TEST_CASE("sum_racy races, and loses updates") {
  const std::vector<float> x = course::position_values<float>(4096);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  for (const SumRung& rung : sum_rungs()) {
    if (rung.because.empty()) continue;
    auto y = course::DeviceBuffer<float>::zeros(1);
    course::Findings findings;
    float sum = 0.0f;
    REQUIRE(course::expect_race(
        [&] {
          course::count([&] { rung.launch(d_x.data(), x.size(), y.data()); });
          sum = y.front();
        },
        &findings));
    INFO(rung.name << " gave " << sum << ", the sum is " << sum_reference(x));
    REQUIRE(sum < sum_reference(x));
    REQUIRE(sum > 0.0f);
    if (findings.checked) {
      INFO(findings.texts.front());
      REQUIRE(findings.texts.front().find("global_atomic.cuh") != std::string::npos);
    }
  }
}

TEST_CASE("sum_racy races with two threads and with the lanes of one warp") {
  // The pictures of step 1 show these two launches: the numbers are small, and no other thread adds.
  std::vector<float> of_a_warp(32);
  std::iota(of_a_warp.begin(), of_a_warp.end(), 1.0f);
  for (const std::vector<float>& x : {std::vector<float>{5.0f, 7.0f}, of_a_warp}) {
    INFO("n = " << x.size());
    const auto d_x = course::DeviceBuffer<float>::from(x);
    auto y = course::DeviceBuffer<float>::zeros(1);
    float sum = 0.0f;
    REQUIRE(course::expect_race([&] {
      launch_sum_racy(d_x.data(), x.size(), y.data());
      sum = y.front();
    }));
    INFO("sum_racy gave " << sum);
    REQUIRE(sum >= x.front());  // what one store leaves, at least
    REQUIRE(sum <= sum_reference(x));
  }
}

TEST_CASE("sum_global_atomic depends on the order if sums are rounded") {
  // A GPU's order cannot be chosen, so nothing can be demanded of it.
  course::skip_without_checker();
  if (course::has_run_before()) return;  // it chooses its schedules itself: once is enough
  std::vector<float> x(1024, 1.0f);
  x[0] = 16'777'216.0f;  // 2^24: from here on, adding 1 is rounded back
  const auto d_x = course::DeviceBuffer<float>::from(x);
  std::set<float> sums;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    course::with_seed(seed, [&] {
      const float sum = sum_global_atomic(d_x.data(), x.size());
      REQUIRE(course::close(sum, sum_reference(x), course::sum_tolerance(x), "sum"));
      sums.insert(sum);
    });
  }
  REQUIRE(sums.size() > 1);
}

TEST_CASE("count_above counts every hit once") {
  constexpr float kThreshold = 1.0f;  // one of the values: it does not count itself
  for (const std::size_t n : course::all_sizes()) {
    INFO("n = " << n);
    const std::vector<float> x = course::position_values<float>(n);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    const int expected = 3 + count_above_reference(x, kThreshold);
    for (const CountRung& rung : count_rungs()) {
      INFO(rung.name);
      auto count = output(1, 3);
      rung.launch(d_x.data(), n, kThreshold, count.data());
      REQUIRE(course::same(count.download().front(), expected, "count"));
      REQUIRE(count.intact("count"));
    }
  }
}

TEST_CASE("add_same_value stagnates where one thread does") {
  const Stagnation s = course::skip_large() ? kStagnationEnd : kStagnationFull;
  for (const StagnationRung& rung : stagnation_rungs()) {
    INFO(rung.name);
    auto y = output(1, s.start);
    float h_y = s.start;
    rung.launch(s, rung.on_host ? &h_y : y.data());
    REQUIRE(course::same(rung.on_host ? h_y : y.download().front(), kStagnatesAt, "y"));
    REQUIRE(y.intact("y"));
  }
  REQUIRE(add_same_value_reference(s) > kStagnatesAt + 30'000.0);
}

TEST_CASE("a hundred million times 1.23 in float is 2^25") {
  static const float sum = add_same_value_float(kStagnationFull);  // once, not for every schedule
  REQUIRE(course::same(sum, kStagnatesAt, "sum"));
  REQUIRE(
      course::close(add_same_value_reference(kStagnationFull), 123'000'000.0, 2.0, "reference"));
}

TEST_CASE("byte_histogram counts every byte once") {
  for (const std::size_t n : course::all_sizes()) {
    for (const bool all_equal : {false, true}) {
      INFO("n = " << n << (all_equal ? ", all bytes are 255" : ""));
      std::vector<unsigned char> bytes = course::position_values<unsigned char>(n);
      if (all_equal) std::fill(bytes.begin(), bytes.end(), 255);
      const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
      std::vector<unsigned> expected = byte_histogram_reference(bytes);
      for (unsigned& bin : expected) bin += 5;
      for (const HistogramRung& rung : histogram_rungs()) {
        INFO(rung.name);
        auto bins = output(kBins, 5u);
        rung.launch(d_bytes.data(), n, bins.data());
        REQUIRE(course::same(bins.download(), expected, "bins"));
        REQUIRE(bins.intact("bins"));
      }
    }
  }
}

TEST_CASE("the contention rungs add to the addresses that they name") {
  for (const std::size_t n : course::all_sizes()) {
    for (const ContentionRung& rung : contention_rungs()) {
      INFO(rung.name << ", n = " << n);
      const std::size_t addresses = rung.addresses(n);
      auto y = output(addresses, 2.0f);
      rung.launch(n, y.data());
      std::vector<float> expected(addresses, 2.0f);
      for (std::size_t i = 0; i < n; ++i) expected[i % addresses] += 1.0f;
      REQUIRE(course::same(y.download(), expected, "y"));
      REQUIRE(y.intact("y"));
    }
  }
}

TEST_CASE("the kernels take more than 2^31 elements") {
  constexpr std::size_t kN = (std::size_t{1} << 31) + 1000;
  course::skip_without_memory(kN * sizeof(float));
  const std::vector<float> ones(1000, 1.0f);
  auto d_x = course::DeviceBuffer<float>::zeros(kN);  // but for the first and the last 1000
  for (const std::size_t first : {std::size_t{0}, kN - ones.size()}) {
    CUDA_CHECK(cudaMemcpy(d_x.data() + first, ones.data(), 4000, cudaMemcpyHostToDevice));
  }
  auto y = output(1, 0.5f);
  launch_sum_global_atomic(d_x.data(), kN, y.data());
  REQUIRE(course::same(y.download().front(), 2000.5f, "y"));
  auto count = output(1, 3);
  launch_count_above(d_x.data(), kN, 0.5f, count.data());
  REQUIRE(course::same(count.download().front(), 2003, "count"));

  const auto* const d_bytes = reinterpret_cast<const unsigned char*>(d_x.data());
  auto bins = output(kBins, 0u);
  course::launch(byte_histogram, {blocks_for(kN), kBlockSize}, d_bytes, kN, bins.data());
  REQUIRE(course::same(bins.download().front(), static_cast<unsigned>(kN) - 2000, "bins[0]"));
}
