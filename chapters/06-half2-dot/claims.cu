// What the lesson says of halves: how they are rounded, how far a sum in half gets, what products
// become, and what the article's index reads.
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conversions.cuh"
#include "rungs.cuh"

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// On the CPU device this program runs under four schedules. Large experiments in which the order
/// of threads plays no part come once.
bool seen_before(bool& done) { return course::kCpuDevice && std::exchange(done, true); }

/// The result of one rung on two arrays, in its own grid or in `blocks`.
float run(const DotRung& rung, const std::vector<__half>& a, const std::vector<__half>& b,
          unsigned blocks = 0) {
  const auto d_a = course::DeviceBuffer<__half>::from(a);
  const auto d_b = course::DeviceBuffer<__half>::from(b);
  course::Placed<float> y({0.0f}, 0);
  const std::size_t n = a.size();
  rung.launch(d_a.data(), d_b.data(), n, blocks == 0 ? rung.blocks(n) : blocks, y.data());
  return y.download().front();
}

/// The result of dot_half2_any_block in one block.
float run_any_block(const std::vector<__half>& a, const std::vector<__half>& b,
                    unsigned block_size) {
  const auto d_a = course::DeviceBuffer<__half>::from(a);
  const auto d_b = course::DeviceBuffer<__half>::from(b);
  course::Placed<float> y({0.0f}, 0);
  launch_any_block(d_a.data(), d_b.data(), a.size(), 1, block_size, y.data());
  return y.download().front();
}

/// What a kernel with the article's index makes of two arrays of the article's size.
double article_result(const WrongIndexRung& rung, const SmallNumbers& a, const SmallNumbers& b) {
  const auto d_a = course::DeviceBuffer<__half>::from(to_halves(a, 1.0f));
  const auto d_b = course::DeviceBuffer<__half>::from(to_halves(b, 1.0f));
  course::Placed<float> y({0.0f}, 0);
  rung.launch(d_a.data(), d_b.data(), y.data());
  return static_cast<double>(y.download().front());
}

}  // namespace

// ---- half and half2 ----------------------------------------------------------------------------

TEST_CASE("round_to_half: four ways to round, and the gaps between halves") {
  struct Row {
    float x;
    Rounded expected;
  };
  const float tiny = 0x1p-24f;  // the smallest half above 0
  const std::vector<Row> rows = {
      {2048, {2048, 2048, 2048, 2048}},
      {2049, {2048, 2048, 2048, 2050}},  // half-way: to the one whose last bit is 0
      {2051, {2052, 2050, 2050, 2052}},
      {-2049, {-2048, -2048, -2050, -2048}},
      {4098, {4096, 4096, 4096, 4100}},  // 4 apart from 4096 on
      {4099, {4100, 4096, 4096, 4100}},
      {0.1f, {0.0999755859375f, 0.0999755859375f, 0.0999755859375f, 0.10003662109375f}},
      {65504, {65504, 65504, 65504, 65504}},  // the largest
      {65519, {65504, 65504, 65504, kInfinity}},
      {65520, {kInfinity, 65504, 65504, kInfinity}},
      {-70000, {-kInfinity, -65504, -kInfinity, -65504}},
      {0x1p-25f, {0, 0, 0, tiny}},
      {0x1.8p-25f, {tiny, 0, 0, tiny}},
      {0x1.004p-15f, {0x1p-15f, 0x1p-15f, 0x1p-15f, 0x1.008p-15f}},  // below 2^-14: 10 bits, 9, ...
      {0, {0, 0, 0, 0}},
  };
  std::vector<float> x;
  for (const Row& row : rows) x.push_back(row.x);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<Rounded> rounded(x.size());
  course::launch(round_to_half, {course::blocks_for(x.size(), kBlockSize), kBlockSize}, d_x.data(),
                 x.size(), rounded.data());
  const std::vector<Rounded> found = rounded.download();
  REQUIRE(rounded.intact("rounded"));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO("x = " << x[i]);
    CHECK(course::same(found[i].to_nearest, rows[i].expected.to_nearest, "__float2half_rn"));
    CHECK(course::same(found[i].to_zero, rows[i].expected.to_zero, "__float2half_rz"));
    CHECK(course::same(found[i].down, rows[i].expected.down, "__float2half_rd"));
    CHECK(course::same(found[i].up, rows[i].expected.up, "__float2half_ru"));
    CHECK(course::same(__half2float(__float2half(x[i])), rows[i].expected.to_nearest,
                       "__float2half, on the host"));
  }
}

TEST_CASE("split_and_join: which half goes where") {
  course::GuardedBuffer<Joined> joined(1);
  course::launch(split_and_join, {1, 1}, 1.5f, -2.0f, joined.data());
  const Joined j = joined.download().front();
  const auto is = [](float2 found, float x, float y) { return found.x == x && found.y == y; };
  CHECK(j.low == 1.5f);
  CHECK(j.high == -2.0f);
  CHECK(is(j.both, 1.5f, -2.0f));
  CHECK(is(j.low_twice, 1.5f, 1.5f));
  CHECK(is(j.high_twice, -2.0f, -2.0f));
  CHECK(is(j.swapped, -2.0f, 1.5f));
  CHECK(is(j.from_halves, -2.0f, 1.5f));
  CHECK(is(j.lows, 1.5f, -2.0f));
  CHECK(is(j.highs, -2.0f, 1.5f));
  CHECK(is(j.one_float_twice, 1.5f, 1.5f));
  CHECK(joined.intact("joined"));
}

TEST_CASE("rounded_to_half is what a half does to an integer") {
  for (int k = 0; k <= 65504; ++k) {
    if (rounded_to_half(k) != static_cast<int>(__half2float(__int2half_rn(k)))) {
      FAIL("rounded_to_half(" << k << ") = " << rounded_to_half(k));
    }
    if (rounded_to_half(-k) != -rounded_to_half(k)) FAIL("rounded_to_half(" << -k << ")");
  }
}

// ---- what half and float cannot do -------------------------------------------------------------

TEST_CASE("sums in half: exact up to 2048 per lane, then rounded, then stagnating, then infinite") {
  static bool done = false;
  if (seen_before(done)) return;
  for (const Limit& limit : kLimits) {
    INFO(limit.n << " times " << limit.value << ", one block of " << limit.block_size);
    const std::vector<__half> a(limit.n, __half(limit.value)), ones(limit.n, __half(1.0f));
    const auto right = static_cast<double>(limit.n) * static_cast<double>(limit.value);
    CHECK(course::same(static_cast<double>(run_any_block(a, ones, limit.block_size)), limit.sum,
                       "y"));
    CHECK((limit.sum == right) == limit.because.empty());
  }
}

TEST_CASE("float sums go on where half stagnates") {
  static bool done = false;
  if (seen_before(done)) return;
  const std::vector<__half> ones(131'072, __half(1.0f));
  for (const DotRung& rung : kDotRungs) {
    INFO(rung.name);
    if (!rung.in_half) REQUIRE(run(rung, ones, ones) == 131'072.0f);
  }
}

TEST_CASE("products in half are rounded, infinite or 0; products in float are exact") {
  const float x = 1.0f + 23.0f / 1024;  // its square lies between two halves
  struct Case {
    float factor, half_product;
  };
  for (const Case c :
       {Case{x, 1.0f + 47.0f / 1024}, Case{300.0f, kInfinity}, Case{0x1p-13f, 0.0f}}) {
    INFO(c.factor << " * " << c.factor);
    for (const std::size_t n : {1u, 2u}) {
      const std::vector<__half> a(n, __half(c.factor));
      const auto count = static_cast<float>(n);
      CHECK(course::same(run(course::rung_named(kDotRungs, "dot_half2_products"), a, a),
                         count * c.half_product, "dot_half2_products"));
      CHECK(course::same(run(course::rung_named(kDotRungs, "dot_float"), a, a),
                         count * c.factor * c.factor, "dot_float"));
    }
  }
}

TEST_CASE("a * b + c is rounded once; by operators twice or once") {
  // Halves 0 and 1 are 1, halves 256 and 257 are x. Of the only block's 128 threads one has 0 and
  // 256, and adds x * x to 1; n = 257 leaves half 256 in no pair.
  const __half x(1.0f + 23.0f / 1024);
  const float once = 2.0f + 46.0f / 1024, twice = 2.0f + 48.0f / 1024;
  for (const std::size_t n : {257u, 258u}) {
    INFO("n = " << n);
    std::vector<__half> a(n, __half(0.0f));
    a[0] = a[1] = __half(1.0f);
    for (std::size_t i = 256; i < n; ++i) a[i] = x;
    const auto expected = [n](float sum) { return n == 257 ? sum + 1 : 2 * sum; };
    for (const DotRung& rung : kDotRungs) {
      if (!rung.in_half) continue;
      // nvcc makes one __hfma2 of the two operators; the CPU device does what the source says.
      const bool rounds_twice = course::kCpuDevice && rung.name == "dot_half2_operators";
      CHECK(course::same(run(rung, a, a, 1), expected(rounds_twice ? twice : once), rung.name));
    }
    CHECK(course::same(run_any_block(a, a, kBlockSize), expected(once), "dot_half2_any_block"));
  }
}

TEST_CASE("dot_pack gives the same bits in every run") {
  if (course::has_run_before()) return;  // it chooses its schedules itself: once is enough
  std::vector<__half> a(6'000);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = __half(1.0f / static_cast<float>(i + 1));
  const auto d_a = course::DeviceBuffer<__half>::from(a);
  using SmallBlocks = Tuning<2, 32, course::CacheHint::none>;  // many of them
  Workspace workspace;
  std::set<float> results;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    course::with_seed(seed, [&] {
      course::GuardedBuffer<float> y(1);
      const SharedPacks split = shared_packs(d_a.data(), d_a.data(), a.size());
      launch_dot_pack_tuned<SmallBlocks>(d_a.data(), d_a.data(), split, y.data(), workspace);
      results.insert(y.download().front());
    });
  }
  REQUIRE(results.size() == 1);
  const double expected = dot_reference(a, a);
  REQUIRE(
      course::close(*results.begin(), expected, expected * 6'000 * course::kFloatRoundoff, "y"));
}

// ---- the article's index -----------------------------------------------------------------------

TEST_CASE("two kernels agree, and both are wrong") {
  static bool done = false;
  if (seen_before(done)) return;
  const SmallNumbers a = article_numbers(2 * kArticlePairs, 3);
  const SmallNumbers b = article_numbers(2 * kArticlePairs, 4);
  const auto expected = static_cast<double>(exact_dot(a, b));
  const double operators = article_result(kWrongIndexRungs[0], a, b);
  const double intrinsics = article_result(kWrongIndexRungs[1], a, b);
  const double with_own_index =
      static_cast<double>(run(course::rung_named(kDotRungs, "dot_half2_intrinsics"),
                              to_halves(a, 1.0f), to_halves(b, 1.0f), kArticleBlocks));
  INFO("operators " << operators << ", intrinsics " << intrinsics << ", mended " << with_own_index
                    << ", exact " << expected);
  REQUIRE(operators == intrinsics);  // the article's test: PASSED
  REQUIRE(operators != expected);    // a test against the exact sum
  // A tolerance of 5 % would not have helped: all products have the same distribution.
  REQUIRE(std::fabs(operators - expected) > 1e-3 * expected);
  REQUIRE(std::fabs(operators - expected) < 0.05 * expected);
  // The index mended, what is left is rounding: block sums above 2048.
  REQUIRE(with_own_index != expected);
  REQUIRE(std::fabs(with_own_index - expected) < 1e-4 * expected);
}

TEST_CASE("the article's index reads 4,080 of 262,144 pairs") {
  static bool done = false;
  if (seen_before(done)) return;
  auto d_visits = course::DeviceBuffer<unsigned>::zeros(kArticlePairs);
  course::launch(count_visits, {kArticleBlocks, kBlockSize}, kArticlePairs, d_visits.data());
  const std::vector<unsigned> visits = d_visits.download();
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < visits.size(); ++i) {
    pairs += visits[i] > 0 ? 1 : 0;
    // 16 patches of 255 pairs, 16,384 apart: pair 255 of each is read by 128 threads, its
    // neighbours by 127, and so on down to pairs 128 and 382, which one thread reads.
    const std::size_t at = i % 16'384;
    const std::size_t from_peak = at > 255 ? at - 255 : 255 - at;
    const std::size_t expected = from_peak < 128 ? 128 - from_peak : 0;
    if (visits[i] != expected) FAIL("pair " << i << ": " << visits[i] << " visits");
  }
  REQUIRE(course::same(pairs, 4'080, "pairs that are read"));
  // As many visits as there are pairs: this is what hides it.
  REQUIRE(course::same(std::accumulate(visits.begin(), visits.end(), 0u), 262'144u, "visits"));
}

TEST_CASE("data that do not depend on the position hide the wrong index") {
  static bool done = false;
  if (seen_before(done)) return;
  const std::size_t n = 2 * kArticlePairs;
  const SmallNumbers ones(n, 1);
  SmallNumbers pattern(n), elsewhere(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    // Repeats itself every 128 pairs, and each of the 128 is visited equally often.
    pattern[i] = static_cast<signed char>(i / 2 % 128 % 5 % 2);
    elsewhere[i] = i / 2 % 16'384 >= 512 ? 1 : 0;
  }
  // Right, to the last digit:
  CHECK(article_result(kWrongIndexRungs[0], ones, ones) == 524'288.0);
  CHECK(article_result(kWrongIndexRungs[1], pattern, ones) ==
        static_cast<double>(exact_dot(pattern, ones)));
  // 97 % of all pairs are 1, and the sum is 0:
  CHECK(exact_dot(elsewhere, ones) == 507'904);
  CHECK(article_result(kWrongIndexRungs[1], elsewhere, ones) == 0.0);
}
