// What the lesson says of digits: where a softmax overflows, what a variance and a sum keep.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"
#include "testing.cuh"

namespace {

std::vector<float> run_rows(const std::vector<float>& x, std::size_t rows, std::size_t results,
                            const std::function<void(const Rows<float>&)>& launch) {
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> y(results);
  launch({d_x.data(), y.data(), rows, rows == 0 ? 0 : x.size() / rows});
  REQUIRE(y.intact("y"));
  return y.download();
}

}  // namespace

TEST_CASE("a softmax without the maximum is right for small numbers, and NaN from 89 on") {
  for (const WrongSoftmax& rung : wrong_softmaxes()) {
    INFO(rung.name);
    const std::vector<float> small = balanced_values<float>(64);
    CHECK(near(run_rows(small, 1, 64, rung.launch), softmax_reference(small, 64), 1e-5, 1e-9));
    std::vector<float> large(64, 80.0f);
    large[5] = 89;
    const std::vector<float> found = run_rows(large, 1, 64, rung.launch);
    CHECK(std::isnan(found[5]));                  // infinite / infinite
    CHECK(course::same(found[0], 0.0f, "y[0]"));  // finite / infinite
    const std::vector<float> low(64, -110.0f);    // exp() of them is 0
    CHECK(std::isnan(run_rows(low, 1, 64, rung.launch)[0]));
    for (const SoftmaxRung<float>& right : softmax_rungs<float>()) {
      INFO(right.name);
      CHECK(near(run_rows(large, 1, 64, right.launch), softmax_reference(large, 64), 1e-5, 1e-9));
      CHECK(near(run_rows(low, 1, 64, right.launch), softmax_reference(low, 64), 1e-5, 1e-9));
    }
  }
}

TEST_CASE("E[x^2] - E[x]^2 loses all digits where the mean is large; others keep them") {
  constexpr std::size_t kWidth = 4096;
  for (const float mean : {0.0f, 100.0f, 10'000.0f}) {
    std::vector<float> x = balanced_values<float>(kWidth);
    for (float& value : x) value += mean;  // exact: multiples of 1/8
    const std::vector<double> expected = variance_reference(x, kWidth);
    for (const VarianceRung& rung : variance_rungs()) {
      INFO(rung.name << ", mean " << mean);
      const auto launch = [&](const Rows<float>& in) { rung.launch(in); };
      const auto found = static_cast<double>(run_rows(x, 1, 1, launch)[0]);
      const double error = std::fabs(found - expected[0]) / expected[0];
      if (rung.keeps_digits || mean == 0) {
        CHECK(course::close(error, 0, 1e-5, "relative error"));
      } else if (mean == 10'000) {  // x^2 is 10^8, whose floats are 8 apart; the variance is 5
        CHECK(error > 0.1);
      }
    }
  }
}

TEST_CASE("a first element far away takes the digits of the shifted variance") {
  std::vector<float> x = balanced_values<float>(65'536);
  x[0] = 10'000;
  const std::vector<double> expected = variance_reference(x, x.size());
  const auto of = [&](const char* name) {
    const VarianceRung rung = course::rung_named(variance_rungs(), name);
    return static_cast<double>(
        run_rows(x, 1, 1, [&](const Rows<float>& in) { rung.launch(in); })[0]);
  };
  CHECK(course::close(of("variance_welford") / expected[0], 1, 1e-5, "ratio of variance_welford"));
  CHECK(std::fabs(of("variance_shifted") / expected[0] - 1) > 1e-4);  // of 10^8 in 65,536 squares
}

TEST_CASE("merged moments are those of all numbers, however these are split") {
  const std::vector<float> x = balanced_values<float>(1000);
  for (const std::size_t split : {0u, 1u, 499u, 999u, 1000u}) {
    course::Moments parts[2];
    for (std::size_t i = 0; i < x.size(); ++i) {
      course::Moments& part = parts[i < split ? 0 : 1];
      part = course::MergeMoments{}(part, course::moments_of(x[i] + 10'000));
    }
    const course::Moments all = course::MergeMoments{}(parts[0], parts[1]);
    INFO("the first " << split << " numbers, and the others");
    CHECK(course::same(all.count, 1000.0f, "count"));
    CHECK(course::close(static_cast<double>(all.variance()), variance_reference(x, 1000)[0], 1e-3,
                        "variance"));
  }
}

TEST_CASE("compensated sums: what each of them keeps of 100,000 - 100,000 and small numbers") {
  constexpr std::size_t kWidth = 8192;
  const std::vector<float> x = sums_that_lose(kWidth, kWidth);
  const double expected = row_sums_reference(x, kWidth)[0];
  const auto d_x = course::DeviceBuffer<float>::from(x);
  std::map<std::string, double> errors;
  for (const AccurateRung& rung : accurate_rungs()) {
    course::GuardedBuffer<double> y(1);
    rung.launch({d_x.data(), y.data(), 1, kWidth});
    errors[rung.name] = std::fabs(y.download()[0] - expected);
    INFO(rung.name << ": error " << errors[rung.name]);
    CHECK(errors[rung.name] <= 1);
  }
  CHECK(errors["PlainSum"] > 100 * errors["NeumaierSum"]);
  CHECK(errors["PlainSum"] > 100 * errors["TwoFloatSum"]);
  CHECK(course::close(errors["TwoFloatSum"], 0, 1e-9, "error of TwoFloatSum"));
  CHECK(course::close(errors["DoubleSum"], 0, 1e-9, "error of DoubleSum"));
  CHECK(course::close(errors["FixedPointSum"], 0, kWidth * 0x1p-33, "error of FixedPointSum"));
}

TEST_CASE("Kahan's sum loses a number that is larger than the sum so far; Neumaier's does not") {
  const float x[] = {1, 1e10f, 1, -1e10f};
  KahanSum kahan;
  NeumaierSum neumaier;
  TwoFloatSum two_floats;
  for (const float value : x) {
    kahan.add(value);
    neumaier.add(value);
    two_floats.add(value);
  }
  CHECK(course::same(kahan.value(), 0.0, "Kahan's"));
  CHECK(course::same(neumaier.value(), 2.0, "Neumaier's"));
  CHECK(course::same(two_floats.value(), 2.0, "of two floats"));
}

TEST_CASE("two_sum is exact, whichever number is larger") {
  for (const auto& [a, b] : {std::pair{1.0f, 0x1p-30f}, std::pair{0x1p-30f, 1.0f},
                             std::pair{1e8f, -99'999'992.0f}, std::pair{3.3f, 1e-3f}}) {
    const TwoFloats both = two_sum(a, b);
    CHECK(course::same(static_cast<double>(both.high) + static_cast<double>(both.low),
                       static_cast<double>(a) + static_cast<double>(b), "high + low"));
  }
}

TEST_CASE("a pairwise sum of 4,096 equal numbers is exact, and in order it is not") {
  PlainSum plain;
  PairwiseSum pairwise;
  for (int i = 0; i < 4096; ++i) {
    plain.add(0.1f);
    pairwise.add(0.1f);
  }
  CHECK(course::same(pairwise.total().sum, 409.6f, "pairwise"));  // 2^12 times one float
  CHECK(plain.sum != 409.6f);
}

TEST_CASE("every sum of rows and columns has the same bits in every run") {
  std::vector<float> x(16 * 1024);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i + 1);
  std::set<std::vector<float>> rows, columns;
  ColumnWorkspace workspace;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    course::with_seed(seed, [&] {
      rows.insert(run_rows(x, 16, 16, sum_rows<float>));
      columns.insert(run_rows(x, 256, 64, [&](const Rows<float>& in) {
        launch_sum_columns_tiled<TileOfColumns<16, 2, 64>>(in, workspace);
      }));
    });
  }
  CHECK(course::same(rows.size(), std::size_t{1}, "different sums of rows"));
  CHECK(course::same(columns.size(), std::size_t{1}, "different sums of columns"));
}
