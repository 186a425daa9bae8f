// Check of the exercise fix_half2_dot: both channels against exact sums, wherever the loud part is,
// for every kind of grid; sums and products that a half cannot hold; any start, infinities and NaN;
// then the loads.
#include "fix_half2_dot.cuh"

#include <cuda_fp16.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace fix_half2_dot_check {

using Launch = course::LaunchShape;

// ---- recordings of every kind ------------------------------------------------------------------

/// One sample of both recordings, each with a left (x) and a right (y) channel.
struct Sample {
  float2 a, b;
};

/// A kind of recordings: how the noise of sample i of n, 1/8 to 15/8 and in the right channel of b
/// below zero, becomes a sample.
struct Kind {
  std::string text;
  Sample (*sample)(std::size_t i, std::size_t n, Sample noise);
  bool rounded = false;  // float sums of the exact products are rounded
};

Sample level(float value) {
  const float2 both = make_float2(value, value);
  return {both, both};
}
Sample silent(Sample noise) { return {make_float2(0.0f, 0.0f), noise.b}; }

using Index = std::size_t;
const Kind kNoise{"multiples of 1/8 from 1/8 to 15/8 in no order",
                  [](Index, Index, Sample noise) { return noise; }};
const Kind kTone{"all samples are 1", [](Index, Index, Sample) { return level(1.0f); }};
/// Loud in one part alone.
const Kind kParts[] = {
    {"a is 0 except for the last 7 samples",
     [](Index i, Index n, Sample noise) { return i + 7 < n ? silent(noise) : noise; }},
    {"a is 0 from sample 7 on",
     [](Index i, Index, Sample noise) { return i >= 7 ? silent(noise) : noise; }},
    {"a is 0 except for sample n / 2",
     [](Index i, Index n, Sample noise) { return i != n / 2 ? silent(noise) : noise; }},
};
/// Products that a half cannot hold.
const Kind kExactness[] = {
    {"all samples are 1 + 511/1024: their products have 22 bits",
     [](Index, Index, Sample) { return level(1.0f + 511.0f / 1024); }, true},
    {"300 times 300: more than a half can hold",
     [](Index, Index, Sample) { return level(300.0f); }},
    {"65504 times 65504: the largest product of two halves",
     [](Index, Index, Sample) { return level(65504.0f); }, true},
    {"2^-13 times 2^-13: less than a half can hold",
     [](Index, Index, Sample) { return level(0x1p-13f); }},
    {"2^-24 times 2^-24: the smallest product of two halves",
     [](Index, Index, Sample) { return level(0x1p-24f); }},
};

/// Every kind but the tone.
std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds = {kNoise};
  kinds.insert(kinds.end(), std::begin(kParts), std::end(kParts));
  kinds.insert(kinds.end(), std::begin(kExactness), std::end(kExactness));
  return kinds;
}

/// Two recordings, and what their channels' dot products are.
struct Recordings {
  std::vector<__half2> a, b;
  double left = 0, right = 0;
  double tolerance = 0;  // of float sums of exact products, in any order
};

Recordings record(const Kind& kind, std::size_t n) {
  const std::vector<float> left_a = course::position_values<float>(n, 1);
  const std::vector<float> left_b = course::position_values<float>(n, 2);
  const std::vector<float> right_a = course::position_values<float>(n, 3);
  const std::vector<float> right_b = course::position_values<float>(n, 4);
  Recordings r;
  for (std::size_t i = 0; i < n; ++i) {
    const Sample noise{make_float2(left_a[i], right_a[i]), make_float2(left_b[i], -right_b[i])};
    const auto [a, b] = kind.sample(i, n, noise);
    r.a.push_back(__floats2half2_rn(a.x, a.y));
    r.b.push_back(__floats2half2_rn(b.x, b.y));
    r.left += static_cast<double>(a.x) * static_cast<double>(b.x);
    r.right += static_cast<double>(a.y) * static_cast<double>(b.y);
  }
  if (kind.rounded) r.tolerance = static_cast<double>(n) * course::kFloatRoundoff * r.left;
  return r;
}

/// A recording with itself; its squares are exact in float.
Recordings with_itself(const std::vector<__half2>& x) {
  Recordings r{x, x};
  for (const __half2& sample : x) {
    const float2 both = __half22float2(sample);
    r.left += static_cast<double>(both.x * both.x);
    r.right += static_cast<double>(both.y * both.y);
  }
  return r;
}

// ---- one launch --------------------------------------------------------------------------------

constexpr const char* kLeft = "the left channel (.x), summed over all blocks";
constexpr const char* kRight = "the right channel (.y), summed over all blocks";

/// Both channels of the results of all blocks, summed.
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

/// Ok if each block has set its result: what no kernel wrote has the bytes that fill a GuardedBuffer, and no
/// product or sum is that NaN.
course::Verdict all_set(const course::GuardedBuffer<float2>& results) {
  const std::vector<float2> parts = results.download();
  for (std::size_t block = 0; block < parts.size(); ++block) {
    std::uint32_t bits[2];
    std::memcpy(bits, &parts[block], sizeof bits);
    if (bits[0] == UINT32_MAX || bits[1] == UINT32_MAX) {
      return {false, "results[" + std::to_string(block) + "] was not written by the launch"};
    }
  }
  return {};
}

/// Ok if both are NaN, or the same number or infinity.
course::Verdict same_or_nan(double found, double expected, const std::string& channel) {
  if (std::isnan(expected) && std::isnan(found)) return {};
  return course::same(found, expected, channel);
}

/// The sums of a single launch.
Sums run(const __half2* a, const __half2* b, std::size_t n, Launch launch) {
  course::GuardedBuffer<float2> results(launch.grid);
  course::launch(half2_dot, {launch.grid, launch.block}, a, b, n, results.data());
  return fix_half2_dot_check::sums_of(results);
}

/// Where the recordings begin: samples past a multiple of 64 bytes.
struct Starts {
  std::size_t a, b;
};

void check_launch(const Recordings& r, Launch launch, int times, Starts starts) {
  const course::Placed<__half2> a(r.a, starts.a), b(r.b, starts.b);
  course::GuardedBuffer<float2> results(launch.grid);
  for (int time = 1; time <= times; ++time) {
    INFO((time == 1 ? "first launch" : "second launch: results holds those of the first one"));
    course::launch(half2_dot, {launch.grid, launch.block}, a.data(), b.data(), r.a.size(),
                   results.data());
    REQUIRE(fix_half2_dot_check::all_set(results));
    const Sums sums = fix_half2_dot_check::sums_of(results);
    REQUIRE(course::close(sums.left, r.left, r.tolerance, kLeft));
    REQUIRE(course::close(sums.right, r.right, r.tolerance, kRight));
    REQUIRE(results.intact("results"));
  }
}

void check(std::size_t n, Launch launch, const Kind& kind, int times = 1, Starts starts = {0, 0}) {
  INFO(course::case_text(n, kind.text, "half2_dot", launch));
  INFO("a and b begin " << 4 * starts.a << " and " << 4 * starts.b
                        << " bytes past a multiple of 64");
  check_launch(record(kind, n), launch, times, starts);
}

// Promise: results, summed over all blocks, are the dot products of all n samples.
TEST_CASE("fix_half2_dot: blocks of 128 threads, wherever the loud part is") {
  // At most 7 products: exact in half, too. So who mends the index passes this, and who mends the
  // tree the next one.
  for (const Kind& kind : kParts) {
    for (const std::size_t n : {1u, 128u, 500u}) check(n, {2, 128}, kind, 2);
  }
}

// Promise: the kernel is right for blocks of 32, 64, 96, ..., 1024 threads (DATA RACE where no
// barrier is between what one warp writes and another reads).
TEST_CASE("fix_half2_dot: blocks of any number of warps") {
  for (unsigned block = 32; block <= 1024; block += 32) check(1100, {1, block}, kTone);
}

// Promise: results[b].x belongs to the left channels, results[b].y to the right ones.
// Promise: results may hold anything before the launch (UNINITIALISED
// MEMORY where a block adds to it).
TEST_CASE("fix_half2_dot: every sample counts") {
  for (const std::size_t n : {1u, 128u, 500u}) check(n, {2, 128}, kNoise, 2);
  for (unsigned block = 32; block <= 1024; block += 32) check(1100, {1, block}, kNoise);
}

// Promise: n is any number, 0 too, and the one-dimensional grid has any number of blocks.
TEST_CASE("fix_half2_dot: every size and grid") {
  const std::vector<Kind> kinds = all_kinds();
  std::size_t turn = 0;  // other kinds and other grids each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    const std::size_t most = course::kCpuDevice ? 2 : launches.size();
    for (std::size_t k = 0; k < most; ++k) {
      Launch launch = launches[turn * 5 % launches.size()];
      if (course::kCpuDevice) launch.block = std::min(launch.block, 160u);  // 1024 are slow there
      const Kind& kind = kinds[turn++ % kinds.size()];
      course::in_launch(launch, [&](Launch tried) { check(n, tried, kind); });
    }
  }
}

// Promise: every block sets its own element of results, to {0, 0} if it has no samples.
// Promise: nothing but results is written (OUT OF BOUNDS; on a GPU the guard bands show it).
TEST_CASE("fix_half2_dot: every block sets its result, also without samples") {
  for (const Launch launch : {Launch{20, 32}, Launch{5, 96}}) {
    check(0, launch, kNoise);
    check(33, launch, kNoise);
  }
}

// Promise: the products are summed in float: each channel is as good as a
// float sum of n products can be.
TEST_CASE("fix_half2_dot: long recordings") {
  // 2187 samples a lane, and 70,000 in a block: no sum in half gets there.
  const bool again = course::has_run_before();
  for (const auto& kind : {kTone, kNoise}) {
    if (!again) check(70'000, {1, 32}, kind);
  }
  check(course::kBigSize, {7, 96}, kNoise, course::kCpuDevice ? 1 : 20);
}

// Promise: the products are exact, as a float holds them and a half does not.
TEST_CASE("fix_half2_dot: the products are exact") {
  for (const Kind& kind : kExactness) {
    check(1, {1, 32}, kind);
    check(257, {2, 64}, kind);
  }
}

// Promise: a and b begin at any multiple of 4 bytes, not only of 8
// (MISALIGNED ACCESS of a wider load).
TEST_CASE("fix_half2_dot: recordings begin at any multiple of 4 bytes") {
  for (const Starts starts : {Starts{1, 0}, Starts{0, 1}, Starts{1, 1}, Starts{3, 2}}) {
    for (const std::size_t n : {1u, 8u, 333u}) check(n, {2, 64}, kNoise, 1, starts);
  }
}

// Promise: a and b may be the same array.
TEST_CASE("fix_half2_dot: a recording with itself") {
  const Recordings r = fix_half2_dot_check::with_itself(record(kNoise, 333).a);
  const course::Placed<__half2> a(r.a, 0);
  INFO("n = 333 samples, a and b are the same array; half2_dot<<<2, 64>>>");
  const Sums sums = run(a.data(), a.data(), r.a.size(), {2, 64});
  REQUIRE(course::same(sums.left, r.left, kLeft));
  REQUIRE(course::same(sums.right, r.right, kRight));
}

// Promise: infinities and NaN act as in float arithmetic, 0 * infinity included,
// and only in their own channel.
TEST_CASE("fix_half2_dot: infinities and NaN, each in its own channel") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    float x, y, sum;
  };
  for (const Case c : {Case{kInfinity, 2.0f, kInfinity}, Case{kInfinity, 0.0f, kNan},
                       Case{0.0f, -kInfinity, kNan}, Case{kNan, 0.0f, kNan}}) {
    for (const auto [at, in_left] : {std::pair{70u, true}, {70u, false}, {3u, true}, {3u, false}}) {
      std::vector<__half2> x(100, __floats2half2_rn(1.0f, 1.0f)), y = x;
      x[at] = in_left ? __floats2half2_rn(c.x, 1.0f) : __floats2half2_rn(1.0f, c.x);
      y[at] = in_left ? __floats2half2_rn(c.y, 1.0f) : __floats2half2_rn(1.0f, c.y);
      const course::Placed<__half2> a(x, 0), b(y, 0);
      INFO("n = 100 samples, all are 1 except for a["
           << at << "] = " << c.x << " and b[" << at << "] = " << c.y << " of the "
           << (in_left ? "left" : "right") << " channel; half2_dot<<<1, 32>>>");
      const Sums sums = run(a.data(), b.data(), x.size(), {1, 32});  // others follow in its thread
      REQUIRE(same_or_nan(in_left ? sums.left : sums.right, static_cast<double>(c.sum),
                          in_left ? kLeft : kRight));
      REQUIRE(course::same(in_left ? sums.right : sums.left, 100.0, in_left ? kRight : kLeft));
    }
  }
}

// Promise: a silent sample counts, too: 0 * infinity is NaN.
TEST_CASE("fix_half2_dot: samples that are 0 in both channels, times infinity or NaN") {
  for (const float y : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    for (const bool in_left : {true, false}) {
      std::vector<__half2> x(100, __floats2half2_rn(1.0f, 1.0f)), others = x;
      x[40] = __floats2half2_rn(0.0f, 0.0f);
      others[40] = in_left ? __floats2half2_rn(y, 1.0f) : __floats2half2_rn(1.0f, y);
      const course::Placed<__half2> silent(x, 0), loud(others, 0);
      INFO(
          "n = 100 samples, all are 1 except for sample 40: 0 in both channels of one recording, and "
          << y << " in the " << (in_left ? "left" : "right")
          << " channel of the other one; half2_dot<<<1, 64>>>");
      for (const bool is_silent_first : {true, false}) {
        const Sums sums = is_silent_first ? run(silent.data(), loud.data(), x.size(), {1, 64})
                                          : run(loud.data(), silent.data(), x.size(), {1, 64});
        REQUIRE(same_or_nan(in_left ? sums.left : sums.right,
                            std::numeric_limits<double>::quiet_NaN(), in_left ? kLeft : kRight));
        REQUIRE(course::same(in_left ? sums.right : sums.left, 99.0, in_left ? kRight : kLeft));
      }
    }
  }
}

// Promise: the dot products are right, too, where the lanes of a warp go in step.
TEST_CASE("fix_half2_dot: the lanes of a warp go in step") {
  for (const std::size_t n : {100u, 1111u}) {
    course::count([&] { check(n, {2, 96}, kNoise); });
  }
}

// ---- how many loads and stores -----------------------------------------------------------------

// Promise: each sample is read once, as a half2, the 32 lanes of a warp side by side
// (loads and sectors are counted).
// Promise: the threads share the work.
// Promise: there are no atomics on global memory.
TEST_CASE("fix_half2_dot: each sample is read once, and the threads share the work") {
  course::skip_without_counters();
  // In the last case there are fewer samples than threads.
  for (const auto& [n, launch] :
       {std::pair<std::size_t, Launch>{4096, {4, 128}}, {4096, {9, 32}}, {8191, {256, 32}}}) {
    const auto counters = course::count([&, n = n, launch = launch] { check(n, launch, kNoise); });
    INFO(course::case_text(n, kNoise.text, "half2_dot", launch));
    const std::uint64_t loads = 2 * (n + 31) / 32;
    const std::uint64_t warps = launch.grid * launch.block / 32;
    // Who gives each block one stretch ends it in the middle of a warp.
    REQUIRE(course::at_most(counters->global_loads, loads + 2 * warps, "loads of the whole grid",
                            "a warp reads 32 samples with one load, and each sample once"));
    // 128 bytes from a multiple of 4 on lie in up to 5 sectors.
    REQUIRE(course::at_most(counters->global_load_sectors, 5 * loads,
                            "sectors of 32 bytes of the whole grid",
                            "are the lanes of a warp side by side?"));
    REQUIRE(course::none(counters->global_atomics, "atomics of the whole grid",
                         "each block has a result of its own"));
    REQUIRE(course::at_most(counters->global_stores, 2 * launch.grid, "stores of the whole grid",
                            "one thread of a block sets its result"));
    REQUIRE(course::work_is_shared(*counters, loads / warps + 8));
  }
}

// ---- large recordings --------------------------------------------------------------------------

/// The last samples of more than 2^32.
void check_end() {
  const Recordings r = record(kNoise, course::kLastItems);
  const course::Placed<__half2> a(r.a, 1), b(r.b, 0);  // not where two samples could be one load
  course::GuardedBuffer<float2> results(2);
  INFO(course::case_text(course::kHugeItems, kNoise.text, "half2_dot", course::kHugeGrid));
  course::at_end_of_huge_grid([&](course::LaunchShape grid, std::size_t items) {
    const std::size_t before = items - r.a.size();  // that are not in memory
    course::launch(half2_dot, {grid.grid, grid.block}, a.data() - before, b.data() - before, items,
                   results.data() - (grid.grid - 2));
    const Sums sums = fix_half2_dot_check::sums_of(results);
    REQUIRE(course::same(sums.left, r.left, "the left channel (.x), of the last two blocks"));
    REQUIRE(course::same(sums.right, r.right, "the right channel (.y), of the last two blocks"));
  });
}

/// On a GPU: a recording with itself that is silent except for six samples.
void check_huge(std::size_t n) {
  course::skip_without_memory(n * sizeof(__half2));
  INFO("n = " << n << " samples, 0 except for six; half2_dot<<<2048, 256>>>");
  auto x = course::DeviceBuffer<__half2>::zeros(n);
  Sums expected;
  float level = 1.0f;
  for (const std::size_t at : {std::size_t{0}, n / 2, n - 78, n - 77, n - 2, n - 1}) {
    const __half2 sample = __floats2half2_rn(level, 2 * level);
    void* const place = x.data() + at;
    CUDA_CHECK(cudaMemcpy(place, &sample, sizeof sample, cudaMemcpyHostToDevice));
    expected.left += static_cast<double>(level * level);
    expected.right += static_cast<double>(4 * level * level);
    level *= 2;
  }
  const Sums sums = run(x.data(), x.data(), n, {2048, 256});
  REQUIRE(course::same(sums.left, expected.left, kLeft));
  REQUIRE(course::same(sums.right, expected.right, kRight));
}

// Promise: n may exceed 2^32, and so may the number of threads (the CPU device runs the last two blocks
// of a grid that has a thread for each sample).
TEST_CASE("fix_half2_dot: more than 2^31 samples, 2^32 samples, 2^32 threads") {
  if (course::kCpuDevice) return check_end();
  for (const unsigned bits : {31u, 32u}) check_huge((std::size_t{1} << bits) + 77);
  check(5000, {(1u << 22) + 2, 1024}, kNoise);
}

}  // namespace fix_half2_dot_check
