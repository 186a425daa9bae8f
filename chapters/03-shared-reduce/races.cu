// What is wrong on purpose is found: races between blocks and in shared memory, and barriers that
// not all threads reach.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstdint>
#include <string>
#include <vector>

#include "barriers.cuh"
#include "rungs.cuh"

namespace {

SumRung<float> wrong_sum(const std::string& name) {
  std::vector<SumRung<float>> rungs;
  for (const WrongSum& wrong : wrong_sums()) rungs.push_back(wrong.rung);
  return course::rung_named(rungs, name);
}

}  // namespace

TEST_CASE("sum_plus_equals races between blocks, and loses updates") {
  if (course::has_run_before()) return;  // it chooses its schedules itself: once is enough
  const std::vector<float> x = course::position_values<float>(64 * kBlockSize);
  SumInput<float> input(x);
  INFO("sum_plus_equals, n = " << x.size());
  course::Findings findings;
  float least = 0.0f;
  for (const std::uint64_t seed :
       {1, 2, 3, 4, 5, 6, 7, 8}) {  // one order of the blocks may be lucky
    float sum = 0.0f;
    REQUIRE(course::expect_race(
        [&] { course::with_seed(seed, [&] { sum = input.sum(wrong_sum("sum_plus_equals")); }); },
        &findings));
    REQUIRE(sum > 0.0f);
    least = least > 0.0f ? std::min(least, sum) : sum;
  }
  INFO("the sum is " << sum_reference(x) << ", and under 8 schedules it gave at least " << least);
  if (!findings.checked) return;
  REQUIRE(least < sum_reference(x));  // a GPU may be lucky with 64 blocks
  INFO(findings.texts.front());
  REQUIRE(findings.texts.front().find("d_y[0]") != std::string::npos);
}

TEST_CASE("one block alone is right with +=: a test with one block proves nothing") {
  const std::vector<float> x = course::position_values<float>(kBlockSize);
  SumInput<float> input(x);
  INFO("sum_plus_equals, n = " << x.size() << ", one block");
  const auto expected = static_cast<float>(sum_reference(x));
  REQUIRE(course::same(input.sum(wrong_sum("sum_plus_equals")), expected, "y"));
}

TEST_CASE("sum_without_barriers races in shared memory") {
  SumInput<float> input(course::position_values<float>(1025));
  INFO("sum_without_barriers, n = 1025");
  course::Findings findings;
  REQUIRE(course::expect_race([&] { input.sum(wrong_sum("sum_without_barriers")); }, &findings));
  if (!findings.checked) return;
  INFO(findings.texts.front());
  REQUIRE(findings.texts.front().find("s_y[") != std::string::npos);
}

TEST_CASE("sum_scope_too_small races between blocks") {
  SumInput<float> input(course::position_values<float>(4 * kBlockSize));
  INFO("sum_scope_too_small, n = " << 4 * kBlockSize);
  REQUIRE(course::expect_race([&] { input.sum(wrong_sum("sum_scope_too_small")); }));
}

TEST_CASE("what threads that returned did not write is found, and a barrier that others skip") {
  course::skip_without_checker();  // a GPU may hang in sum_barrier_in_if
  const std::vector<float> x = course::position_values<float>(kBlockSize + 100);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  const auto found = [&](const std::string& name, const auto& launch) {
    INFO(name << ", n = " << x.size());
    auto y = course::DeviceBuffer<float>::zeros(1);
    const course::Findings findings = course::find_races([&] { launch(y.data()); });
    REQUIRE(findings.others > 0);
    return findings.texts.front();
  };
  const std::string early = found("sum_early_return", [&](float* d_y) {
    course::launch(sum_early_return<float>, {2, kBlockSize}, d_x.data(), x.size(), d_y);
  });
  INFO(early);
  REQUIRE(early.find("UNINITIALISED MEMORY") != std::string::npos);
  REQUIRE(early.find("156 of the 256 threads have returned") != std::string::npos);
  const std::string inside = found("sum_barrier_in_if", [&](float* d_y) {
    course::launch(sum_barrier_in_if<float>, {2, kBlockSize}, d_x.data(), x.size(), d_y);
  });
  INFO(inside);
  REQUIRE(inside.find("BARRIER IN DIVERGENT CODE") != std::string::npos);
}
