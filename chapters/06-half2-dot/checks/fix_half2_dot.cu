// Check of the exercise fix_half2_dot: both channels against exact sums, wherever the loud part is,
// for every kind of grid; sums and products that a half cannot hold; any start, infinities and NaN;
// then the loads.
#include "fix_half2_dot.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using Launch = course::LaunchShape;

enum class Kind { noise, late, early, one_sample, tone, fine, loud, loudest, quiet, faint };
constexpr Kind kExactness[] = {Kind::fine, Kind::loud, Kind::loudest, Kind::quiet, Kind::faint};
constexpr Kind kKinds[] = {Kind::noise, Kind::late,  Kind::early,   Kind::one_sample, Kind::fine,
                           Kind::loud,  Kind::quiet, Kind::loudest, Kind::faint};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::noise:
      return "1/8 to 15/8, in no order, other ones in each channel";
    case Kind::late:
      return "0 up to the last 7 samples";
    case Kind::early:
      return "0 from sample 7 on";
    case Kind::one_sample:
      return "0, except for one sample in the middle";
    case Kind::tone:
      return "all samples are 1";
    case Kind::fine:
      return "all samples are 1 + 511/1024: their products have 22 bits";
    case Kind::loud:
      return "300 times 300: more than a half can hold";
    case Kind::loudest:
      return "65504 times 65504: the largest product of two halves";
    case Kind::quiet:
      return "2^-13 times 2^-13: less than a half can hold";
    case Kind::faint:
      return "2^-24 times 2^-24: the smallest product of two halves";
  }
  return "";
}

/// Two recordings, and what their channels' dot products are.
struct Recordings {
  std::vector<__half2> a, b;
  double left = 0, right = 0;
  double tolerance = 0;  // of float sums of exact products, in any order
};

Recordings record(Kind kind, std::size_t n) {
  const std::vector<float> left_a = course::position_values<float>(n, 1);
  const std::vector<float> left_b = course::position_values<float>(n, 2);
  const std::vector<float> right_a = course::position_values<float>(n, 3);
  const std::vector<float> right_b = course::position_values<float>(n, 4);
  Recordings r;
  for (std::size_t i = 0; i < n; ++i) {
    float2 x = make_float2(left_a[i], right_a[i]), y = make_float2(left_b[i], -right_b[i]);
    const bool silent = (kind == Kind::late && i + 7 < n) || (kind == Kind::early && i >= 7) ||
                        (kind == Kind::one_sample && i != n / 2);
    const float level = kind == Kind::tone      ? 1.0f
                        : kind == Kind::fine    ? 1.0f + 511.0f / 1024
                        : kind == Kind::loud    ? 300.0f
                        : kind == Kind::loudest ? 65504.0f
                        : kind == Kind::quiet   ? 0x1p-13f
                        : kind == Kind::faint   ? 0x1p-24f
                                                : 0.0f;
    if (silent) x = make_float2(0.0f, 0.0f);
    if (level != 0.0f) x = y = make_float2(level, level);
    r.a.push_back(__floats2half2_rn(x.x, x.y));
    r.b.push_back(__floats2half2_rn(y.x, y.y));
    r.left += static_cast<double>(x.x) * static_cast<double>(y.x);
    r.right += static_cast<double>(x.y) * static_cast<double>(y.y);
  }
  if (kind == Kind::fine || kind == Kind::loudest) {
    r.tolerance = static_cast<double>(n) * course::kFloatRoundoff * r.left;
  }
  return r;
}

/// Where the recordings begin: samples past a multiple of 256 bytes.
struct Starts {
  std::size_t a, b;
};

/// A recording that begins `start` samples behind an address of 256 bytes. What stands in front is
/// never written: to read it is an error.
struct Recording {
  Recording(const std::vector<__half2>& x, std::size_t start)
      : memory(start + x.size()), first(memory.data() + start) {
    if (x.empty()) return;
    CUDA_CHECK(cudaMemcpy(static_cast<void*>(first), x.data(), x.size() * sizeof(__half2),
                          cudaMemcpyHostToDevice));
  }
  course::DeviceBuffer<__half2> memory;
  __half2* first;
};

/// Both channels of what the kernel's blocks have, added up.
struct Sums {
  double left = 0, right = 0;
};

Sums sums_of(const course::GuardedBuffer<float2>& results) {
  Sums sums;
  for (const float2& part : results.download()) {
    sums.left += static_cast<double>(part.x);
    sums.right += static_cast<double>(part.y);
  }
  return sums;
}

/// Launches the kernel, and checks what its blocks have, added up.
void check_launch(const Recordings& r, Launch launch, int times, Starts starts) {
  const Recording a(r.a, starts.a), b(r.b, starts.b);
  course::GuardedBuffer<float2> results(launch.grid);
  for (int time = 1; time <= times; ++time) {
    INFO((time == 1 ? "first launch" : "second launch: results holds those of the first one"));
    half2_dot<<<launch.grid, launch.block>>>(a.first, b.first, r.a.size(), results.data());
    CUDA_CHECK_LAUNCH();
    const Sums sums = sums_of(results);
    REQUIRE(course::close(sums.left, r.left, r.tolerance, "the left channel, over all blocks"));
    REQUIRE(course::close(sums.right, r.right, r.tolerance, "the right channel, over all blocks"));
    REQUIRE(results.intact("results"));
  }
}

std::string describe(std::size_t n, Launch launch, Kind kind) {
  return "n = " + std::to_string(n) + " samples: " + to_string(kind) + "; half2_dot<<<" +
         std::to_string(launch.grid) + ", " + std::to_string(launch.block) + ">>>";
}

void check(std::size_t n, Launch launch, Kind kind, int times = 1, Starts starts = {0, 0}) {
  INFO(describe(n, launch, kind));
  INFO("a and b begin " << 4 * starts.a << " and " << 4 * starts.b
                        << " bytes behind a multiple of 256");
  check_launch(record(kind, n), launch, times, starts);
}

/// Ok if there were at most `most`.
course::Verdict at_most(std::uint64_t found, std::uint64_t most, const std::string& what,
                        const std::string& hint) {
  if (found <= most) return {};
  return {false, what + ": expected at most " + std::to_string(most) +
                     " for the whole grid, found " + std::to_string(found) + "; " + hint};
}

/// Ok if both are NaN, or the same number or infinity.
course::Verdict same_or_nan(double found, double expected) {
  if (std::isnan(expected) ? std::isnan(found) : found == expected) return {};
  return {false, "this channel, over all blocks: expected " + course::number_text(expected) +
                     ", found " + course::number_text(found)};
}

constexpr unsigned kBlocks[] = {32, 64, 96, 160, 256, 480, 512, 1024};

}  // namespace

TEST_CASE("fix_half2_dot: blocks of 128 threads, wherever the loud part is") {
  // At most 7 products: exact in half, too. So who mends the index passes this, and who mends the
  // tree the next one.
  for (const Kind kind : {Kind::late, Kind::early, Kind::one_sample}) {
    for (const std::size_t n : {1u, 128u, 500u}) check(n, {2, 128}, kind, 2);
  }
}

TEST_CASE("fix_half2_dot: blocks of any number of warps") {
  for (const unsigned block : kBlocks) check(700, {1, block}, Kind::tone);
}

TEST_CASE("fix_half2_dot: every sample counts") {
  for (const std::size_t n : {1u, 128u, 500u}) check(n, {2, 128}, Kind::noise, 2);
  for (const unsigned block : kBlocks) check(700, {1, block}, Kind::noise);
}

TEST_CASE("fix_half2_dot: every size and grid") {
  std::size_t turn = 0;  // other kinds and other grids each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    const std::size_t most = course::kCpuDevice ? 2 : launches.size();
    for (std::size_t k = 0; k < most; ++k) {
      Launch launch = launches[turn * 5 % launches.size()];
      if (course::kCpuDevice) launch.block = std::min(launch.block, 160u);  // 1024 are slow there
      check(n, launch, kKinds[turn++ % std::size(kKinds)]);
    }
  }
}

TEST_CASE("fix_half2_dot: every block sets its result, also without samples") {
  for (const Launch launch : {Launch{20, 32}, Launch{5, 96}}) {
    check(0, launch, Kind::noise);
    check(33, launch, Kind::noise);
  }
}

TEST_CASE("fix_half2_dot: long recordings") {
  // 2187 samples a lane, and 70,000 in a block: no sum in half gets there. The order of threads
  // plays no part in it: once is enough on the CPU device.
  static bool done = false;
  if (!course::kCpuDevice || !std::exchange(done, true)) check(70'000, {1, 32}, Kind::tone);
  check(course::kBigSize, {7, 96}, Kind::noise, course::kCpuDevice ? 1 : 20);
}

TEST_CASE("fix_half2_dot: the products are exact") {
  for (const Kind kind : kExactness) {
    check(1, {1, 32}, kind);
    check(257, {2, 64}, kind);
  }
}

TEST_CASE("fix_half2_dot: recordings begin at any multiple of 4 bytes") {
  for (const Starts starts : {Starts{1, 0}, Starts{0, 1}, Starts{1, 1}, Starts{3, 2}}) {
    for (const std::size_t n : {1u, 8u, 333u}) check(n, {2, 64}, Kind::noise, 1, starts);
  }
}

TEST_CASE("fix_half2_dot: a recording with itself") {
  const std::size_t n = 333;
  Recordings r = record(Kind::noise, n);
  double left = 0, right = 0;
  for (const __half2& sample : r.a) {
    const float2 x = __half22float2(sample);
    left += static_cast<double>(x.x * x.x);
    right += static_cast<double>(x.y * x.y);
  }
  const Recording a(r.a, 0);
  course::GuardedBuffer<float2> results(2);
  INFO("n = 333 samples, a and b are the same array; half2_dot<<<2, 64>>>");
  half2_dot<<<2, 64>>>(a.first, a.first, n, results.data());
  CUDA_CHECK_LAUNCH();
  const Sums sums = sums_of(results);
  REQUIRE(course::same(sums.left, left, "the left channel, over all blocks"));
  REQUIRE(course::same(sums.right, right, "the right channel, over all blocks"));
}

TEST_CASE("fix_half2_dot: infinities and NaN, each in its own channel") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    float x, y, sum;
  };
  for (const Case c : {Case{kInfinity, 2.0f, kInfinity}, Case{kInfinity, 0.0f, kNan},
                       Case{0.0f, -kInfinity, kNan}, Case{kNan, 0.0f, kNan}}) {
    for (const bool in_left : {true, false}) {
      std::vector<__half2> x(100, __floats2half2_rn(1.0f, 1.0f)), y = x;
      x[70] = in_left ? __floats2half2_rn(c.x, 1.0f) : __floats2half2_rn(1.0f, c.x);
      y[70] = in_left ? __floats2half2_rn(c.y, 1.0f) : __floats2half2_rn(1.0f, c.y);
      const Recording a(x, 0), b(y, 0);
      course::GuardedBuffer<float2> results(2);
      INFO("n = 100 samples, all are 1; only in the "
           << (in_left ? "left" : "right") << " channel a[70] = " << c.x << " and b[70] = " << c.y
           << "; half2_dot<<<2, 64>>>");
      half2_dot<<<2, 64>>>(a.first, b.first, x.size(), results.data());
      CUDA_CHECK_LAUNCH();
      const Sums sums = sums_of(results);
      REQUIRE(same_or_nan(in_left ? sums.left : sums.right, static_cast<double>(c.sum)));
      REQUIRE(course::same(in_left ? sums.right : sums.left, 100.0, "the other channel"));
    }
  }
}

TEST_CASE("fix_half2_dot: the lanes of a warp go in step") {
  for (const std::size_t n : {100u, 1111u}) {
    course::count([&] { check(n, {2, 96}, Kind::noise); });
  }
}

TEST_CASE("fix_half2_dot: each sample is read once, and the threads share the work") {
  course::skip_without_counters();
  constexpr std::size_t kN = 4096;
  for (const Launch launch : {Launch{4, 128}, Launch{9, 32}}) {
    const auto counters = course::count([&] { check(kN, launch, Kind::noise); });
    INFO(describe(kN, launch, Kind::noise));
    constexpr std::uint64_t kLoads = 2 * kN / 32;
    const std::uint64_t warps = launch.grid * launch.block / 32;
    // Who gives each block one stretch ends it in the middle of a warp.
    REQUIRE(at_most(counters->global_loads, kLoads + 2 * warps, "loads",
                    "a warp reads 32 samples with one load, and each sample once"));
    // 128 bytes from a multiple of 4 on lie in up to 5 sectors.
    REQUIRE(at_most(counters->global_load_sectors, 5 * kLoads, "sectors of 32 bytes",
                    "are the lanes of a warp side by side?"));
    REQUIRE(at_most(counters->global_atomics, 0, "atomics", "each block has a result of its own"));
    REQUIRE(at_most(counters->global_stores, 2 * launch.grid, "stores",
                    "one thread of a block sets its result"));
    REQUIRE(course::work_is_shared(*counters, kLoads / warps + 8));
  }
}

TEST_CASE("fix_half2_dot: more than 2^31 samples") {
  constexpr std::size_t kN = (std::size_t{1} << 31) + 77;
  constexpr Launch kLaunch{2048, 256};
  course::skip_without_memory(kN * sizeof(__half2));
  INFO("n = 2^31 + 77 samples, 0 except for six; half2_dot<<<2048, 256>>>");
  auto d_a = course::DeviceBuffer<__half2>::zeros(kN);
  double left = 0, right = 0;
  float level = 1.0f;
  for (const std::size_t place :
       {std::size_t{0}, kN / 2, (std::size_t{1} << 31) - 1, std::size_t{1} << 31, kN - 2, kN - 1}) {
    const __half2 sample = __floats2half2_rn(level, 2 * level);
    CUDA_CHECK(cudaMemcpy(static_cast<void*>(d_a.data() + place), &sample, sizeof sample,
                          cudaMemcpyHostToDevice));
    left += static_cast<double>(level * level);
    right += static_cast<double>(4 * level * level);
    level *= 2;
  }
  course::GuardedBuffer<float2> results(kLaunch.grid);
  half2_dot<<<kLaunch.grid, kLaunch.block>>>(d_a.data(), d_a.data(), kN, results.data());
  CUDA_CHECK_LAUNCH();
  for (const float2& part : results.download()) {
    left -= static_cast<double>(part.x);
    right -= static_cast<double>(part.y);
  }
  REQUIRE(course::same(left, 0.0, "what is missing of the left channel"));
  REQUIRE(course::same(right, 0.0, "what is missing of the right channel"));
}
