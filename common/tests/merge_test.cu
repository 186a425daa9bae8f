// Merges of (maximum, sum) and of moments: by a warp, by some of its lanes, by a block, and calls in a row.
#include <course/check.cuh>
#include <course/merge.cuh>

#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace merges {  // nvcc launches no kernel of an unnamed namespace next to a TEST_CASE

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Thread t has x[t], and writes there what it got.
template <unsigned lanes>
__global__ void of_lanes(const float* d_x, course::MaxSum* d_y, course::Moments* d_z) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  d_y[i] = course::warp_merge<lanes>(course::max_sum_of(d_x[i]), course::MergeMaxSum{});
  d_z[i] = course::warp_merge<lanes>(course::moments_of(d_x[i]), course::MergeMoments{});
}

/// The same of the block, twice without a barrier in between, of different numbers.
__global__ void of_block(const float* d_x, course::Moments* d_first, course::Moments* d_second) {
  const unsigned i = threadIdx.x;
  d_first[i] = course::block_merge(course::moments_of(d_x[i]), course::MergeMoments{});
  d_second[i] = course::block_merge(course::moments_of(d_x[i] + 8), course::MergeMoments{});
}

/// The logarithm of the sum of exp(x), in double.
double log_sum(const std::vector<float>& x, std::size_t first, std::size_t n) {
  double sum = 0;
  for (std::size_t i = first; i < first + n; ++i) sum += std::exp(static_cast<double>(x[i]));
  return std::log(sum);
}

double mean_of(const std::vector<float>& x, std::size_t first, std::size_t n) {
  double sum = 0;
  for (std::size_t i = first; i < first + n; ++i) sum += static_cast<double>(x[i]);
  return sum / static_cast<double>(n);
}

double variance_of(const std::vector<float>& x, std::size_t first, std::size_t n) {
  double squares = 0;
  const double mean = mean_of(x, first, n);
  for (std::size_t i = first; i < first + n; ++i) {
    squares += (static_cast<double>(x[i]) - mean) * (static_cast<double>(x[i]) - mean);
  }
  return squares / static_cast<double>(n);
}

template <unsigned lanes>
void check_lanes() {
  INFO(lanes << " lanes");
  const std::vector<float> x = course::position_values<float>(64);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<course::MaxSum> y(64);
  course::DeviceBuffer<course::Moments> z(64);
  course::launch(of_lanes<lanes>, {2, 32}, d_x.data(), y.data(), z.data());
  const std::vector<course::MaxSum> sums = y.download();
  const std::vector<course::Moments> moments = z.download();
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t first = i / lanes * lanes;
    INFO("thread " << i);
    const auto log = static_cast<double>(sums[i].max) + std::log(static_cast<double>(sums[i].sum));
    REQUIRE(course::close(log, log_sum(x, first, lanes), 1e-6, "log(sum)"));
    REQUIRE(course::same(moments[i].count, static_cast<float>(lanes), "count"));
    REQUIRE(course::close(moments[i].mean, mean_of(x, first, lanes), 1e-6, "mean"));
    REQUIRE(course::close(moments[i].variance(), variance_of(x, first, lanes), 1e-6, "variance"));
  }
}

}  // namespace merges

using namespace merges;

TEST_CASE("warp_merge: one lane to all of a warp") {
  check_lanes<1>();
  check_lanes<2>();
  check_lanes<8>();
  check_lanes<32>();
}

TEST_CASE("block_merge: every block of whole warps, twice in a row") {
  for (const unsigned block : {32u, 96u, 1024u}) {
    INFO("blocks of " << block);
    const std::vector<float> x = course::position_values<float>(block);
    const auto d_x = course::DeviceBuffer<float>::from(x);
    course::DeviceBuffer<course::Moments> first(block), second(block);
    course::launch(of_block, {1, block}, d_x.data(), first.data(), second.data());
    const std::vector<course::Moments> a = first.download(), b = second.download();
    for (const unsigned t : {0u, block / 2, block - 1}) {
      REQUIRE(course::close(a[t].mean, mean_of(x, 0, block), 1e-5, "mean"));
      REQUIRE(course::close(b[t].mean, mean_of(x, 0, block) + 8, 1e-5, "mean of x + 8"));
      REQUIRE(course::close(b[t].variance(), variance_of(x, 0, block), 1e-5, "variance"));
    }
  }
}

TEST_CASE("(maximum, sum): the identity, infinities and NaN") {
  const course::MergeMaxSum merge;
  const course::MaxSum none, one = course::max_sum_of(3);
  CHECK(course::same(merge(none, one).max, 3.0f, "maximum"));
  CHECK(course::same(merge(one, none).sum, 1.0f, "sum"));
  CHECK(course::same(merge(none, none).sum, 0.0f, "sum of nothing"));
  const course::MaxSum low = course::max_sum_of(-kInfinity);
  CHECK(course::same(merge(low, low).max, -kInfinity, "maximum of -inf"));
  CHECK(course::same(merge(low, low).sum, 0.0f, "sum of exp(-inf)"));
  CHECK(course::same(merge(low, one).sum, 1.0f, "sum with an exp(-inf)"));
  const course::MaxSum high = course::max_sum_of(kInfinity);
  CHECK(course::same(merge(high, one).sum, kInfinity, "sum with an exp(inf)"));
  CHECK(std::isnan(merge(course::max_sum_of(std::nanf("")), one).sum));
  const course::MaxSum far = merge(course::max_sum_of(-1000), one);  // exp(-1003) is 0
  CHECK(course::same(far.sum, 1.0f, "sum of numbers far apart"));
}

TEST_CASE("moments keep the digits of a small variance") {
  course::Moments all;
  for (int i = 0; i < 1000; ++i) {
    all = course::MergeMoments{}(all, course::moments_of(1e6f + static_cast<float>(i % 2)));
  }
  CHECK(course::close(all.variance(), 0.25, 1e-3, "variance"));
  CHECK(course::same(course::MergeMoments{}({}, {}).count, 0.0f, "count of nothing"));
}
