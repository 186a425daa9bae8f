// What the lesson's text says of its sums: what a block of 192 loses, what a forgotten `if` gives,
// and which sums have the same bits in every run.
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <set>
#include <type_traits>
#include <vector>

#include "rungs.cuh"
#include "testing.cuh"

TEST_CASE("a block size that is no power of two loses a third of the elements") {
  for (const std::size_t n : {std::size_t{192}, std::size_t{1025}, course::kBigSize}) {
    const std::vector<float> x = course::position_values<float>(n);
    SumInput<float> input(x);
    for (const WrongSum& wrong : wrong_sums()) {
      if (!wrong.exactly) continue;
      INFO(wrong.rung.name << ", n = " << n);
      const float sum = input.sum(wrong.rung);
      REQUIRE(course::same(sum, static_cast<float>(wrong.exactly(x)), "y"));
      REQUIRE(sum < sum_reference(x));  // the sum of all
    }
  }
}

TEMPLATE_TEST_CASE("the forgotten if: 128 times too large, as far as the type can hold it", "",
                   float, double) {
  using T = TestType;
  const Experiment<T> e = course::skip_large() ? kExperimentShort<T> : kExperimentFull<T>;
  for (const ExperimentRung<T>& rung : experiment_rungs<T>()) {
    INFO(rung.name << ", " << e.blocks << " blocks of " << kExperimentBlock << " threads");
    course::GuardedBuffer<T> y(1);
    CUDA_CHECK(cudaMemcpy(y.data(), &e.start, sizeof(T), cudaMemcpyHostToDevice));
    rung.launch(e, y.data());
    const T sum = y.download().front();
    REQUIRE(course::same(sum, add_block_sums(e, rung.per_block), "y"));
    REQUIRE(y.intact("y"));
    if (rung.per_block == 1) continue;
    if (std::is_same_v<T, float>) {
      REQUIRE(course::same(sum, static_cast<T>(kForgottenIfStagnatesAt), "y"));
    } else {
      const double right = add_block_sums_reference(e);
      // 781,250 times 128 additions, each of them rounded by at most half an ulp of the result.
      const double bound =
          static_cast<double>(e.blocks) * kExperimentBlock * course::kDoubleRoundoff;
      REQUIRE(course::close(sum, kExperimentBlock * right, bound * sum, "y"));
    }
  }
}

TEST_CASE("the article's numbers: 100 million times 1.23 in blocks of 128") {
  static const float with_if = add_block_sums(kExperimentFull<float>, 1);  // once is enough
  REQUIRE(course::same(with_if, 123'633'392.0f, "float, with the if"));
  REQUIRE(course::close(add_block_sums_reference(kExperimentFull<float>), 123'000'000.0, 2.0,
                        "what float's 1.23 should give"));
  static const double in_double = add_block_sums(kExperimentFull<double>, 1);
  REQUIRE(course::close(in_double, 123'000'000.0, 0.01, "double, with the if"));
}

TEST_CASE("atomics add blocks in any order; a fixed order gives the same bits in every run") {
  if (course::has_run_before()) return;  // it chooses its schedules itself: once is enough
  SumInput<float> input(rounding_values<float>(course::kBigSize));
  constexpr std::uint64_t kRuns = 8;
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    INFO(rung.name << ", n = " << course::kBigSize);
    std::set<float> sums;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
      course::with_seed(seed, [&] { sums.insert(input.sum(rung)); });
    }
    constexpr const char* kSums = "different sums under 8 schedules";
    if (rung.same_bits) REQUIRE(course::same(sums.size(), 1, kSums));
    // A GPU's order cannot be chosen, so nothing can be demanded of it.
    if (!rung.same_bits && course::kCpuDevice) REQUIRE(course::at_least(sums.size(), 2, kSums));
  }
}
