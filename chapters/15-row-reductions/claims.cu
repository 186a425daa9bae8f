// What the lesson says of digits: where a softmax overflows, what a variance and a sum keep.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "first_merge.cuh"
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

/// How many decimal digits of a result are right: as many as a relative error of 10^-digits leaves, 16 of a double.
std::uint64_t right_digits(double found, double expected) {
  constexpr double kMost = 16;
  const double error = std::fabs(found - expected) / std::fabs(expected);
  if (!(error < 1)) return 0;
  return static_cast<std::uint64_t>(error == 0 ? kMost : std::min(-std::log10(error), kMost));
}

/// The sum of numbers that one thread adds, one after the other: on the host, whose floats are the same.
template <class Accumulator>
double sum_in_order(const std::vector<float>& x) {
  Accumulator sum;
  for (const float value : x) sum.add(value);
  if constexpr (std::is_same_v<Accumulator, PairwiseSum>) {
    return sum.total().value();
  } else {
    return sum.value();
  }
}

}  // namespace

TEST_CASE("32 (maximum, sum) pairs, merged by shuffles, are that of the row") {
  std::vector<float> x(course::kWarpSize);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(7 * i % 10);
  const course::MaxSum all = launch_max_sum_of_warp(x);
  double sum = 0;  // of exp(x - 9): three of each number from 0 to 9, and one 0 and one 7 more
  for (const float value : x) sum += std::exp(static_cast<double>(value) - 9);
  CHECK(course::same(all.max, 9.0f, "maximum"));
  CHECK(course::close(static_cast<double>(all.sum), sum, 1e-5, "sum of exp(x - 9)"));
}

TEST_CASE(
    "of numbers 20 apart the merged sum counts the largest") {  // a picture of the lesson shows this run
  std::vector<float> x(course::kWarpSize);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(20 * (7 * i % 5));
  const course::MaxSum all = launch_max_sum_of_warp(x);
  CHECK(course::same(all.max, 80.0f, "maximum"));
  CHECK(course::same(all.sum, 6.0f, "sum of exp(x - 80)"));  // exp(-20) is less than a bit of 1
}

TEST_CASE("sums of rows of small integers") {  // two pictures of the lesson show this run
  constexpr std::size_t kRows = 32, kWidth = 64;
  std::vector<float> x(kRows * kWidth);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>((i / kWidth + 3 * i) % 10);
  for (const RowSumRung<float>& rung : row_sum_rungs<float>()) {
    if (rung.clusters) continue;
    INFO(rung.name << ", " << rung.changed);
    CHECK(near(run_rows(x, kRows, kRows, rung.launch), row_sums_reference(x, kWidth), 0, 0));
  }
}

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

TEST_CASE("right digits of a variance of 5, by the mean of the row") {
  constexpr std::size_t kWidth = 4096;
  for (const VarianceRung& rung : variance_rungs()) {
    for (const auto& [mean, text] : {std::pair{0.0f, "mean 0"}, std::pair{100.0f, "mean 100"},
                                     std::pair{10'000.0f, "mean 10,000"}}) {
      std::vector<float> x = balanced_values<float>(kWidth);
      for (float& value : x) value += mean;  // exact: multiples of 1/8
      const double expected = variance_reference(x, kWidth)[0];
      const auto launch = [&](const Rows<float>& in) { rung.launch(in); };
      const std::uint64_t digits =
          right_digits(static_cast<double>(run_rows(x, 1, 1, launch)[0]), expected);
      INFO(rung.name);
      if (rung.keeps_digits || mean == 0) {
        CHECK(course::at_least(digits, 5, text));
      } else if (mean == 10'000) {  // x^2 is 10^8, whose floats are 8 apart
        CHECK(course::none(digits, text));
      } else {  // x^2 is 10^4, whose floats are 1/1024 apart
        CHECK(course::at_most(digits, 5, text));
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

TEST_CASE("right digits of sums: in order, by a block, and where large numbers cancel") {
  struct Kept {
    const char* rung;
    double (*in_order)(const std::vector<float>&);
    std::uint64_t digits_in_order, digits_of_block, digits_of_cancelling;  // at least
  };
  const Kept all_kept[] = {{"PlainSum", sum_in_order<PlainSum>, 3, 5, 3},
                           {"PairwiseSum", sum_in_order<PairwiseSum>, 6, 5, 4},
                           {"KahanSum", sum_in_order<KahanSum>, 6, 6, 4},
                           {"NeumaierSum", sum_in_order<NeumaierSum>, 6, 6, 6},
                           {"TwoFloatSum", sum_in_order<TwoFloatSum>, 12, 12, 12},
                           {"DoubleSum", sum_in_order<DoubleSum>, 12, 12, 12},
                           {"FixedPointSum", sum_in_order<FixedPointSum>, 12, 12, 12}};
  constexpr std::size_t kMany = (std::size_t{1} << 20) - 1, kWidth = 8192;
  std::vector<float> many = sums_that_lose(kMany + 1, kMany + 1), row,
                     cancelling = sums_that_lose(kWidth, kWidth);
  many.erase(many.begin()), many.back() = many.front();  // of one sign
  row.assign(many.begin(), many.begin() + kWidth);
  const auto of_block = [](const Kept& kept, const std::vector<float>& x) {
    const auto d_x = course::DeviceBuffer<float>::from(x);
    course::GuardedBuffer<double> y(1);
    course::rung_named(accurate_rungs(), kept.rung).launch({d_x.data(), y.data(), 1, x.size()});
    return right_digits(y.download()[0], row_sums_reference(x, x.size())[0]);
  };
  for (const Kept& kept : all_kept) {
    INFO(kept.rung);
    const double in_order = kept.in_order(many), expected = row_sums_reference(many, kMany)[0];
    CHECK(course::at_least(right_digits(in_order, expected), kept.digits_in_order,
                           "one thread, 1,048,575 numbers"));
    CHECK(course::at_least(of_block(kept, row), kept.digits_of_block, "a block, 8,192 numbers"));
    CHECK(course::at_least(of_block(kept, cancelling), kept.digits_of_cancelling,
                           "a block, 8,192 that cancel"));
  }
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
  if (course::has_run_before()) return;  // it chooses its schedules itself: once is enough
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
