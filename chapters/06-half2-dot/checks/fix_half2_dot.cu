// Check of the exercise fix_half2_dot: both channels against exact sums, wherever the loud part is,
// for every kind of grid; sums and products that a half cannot hold; any start, infinities and NaN;
// then the loads.
#include "fix_half2_dot.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "checks/recordings.cuh"

namespace {

using Launch = course::LaunchShape;

using namespace recordings;

/// The sums of a single launch.
Sums run(const __half2* a, const __half2* b, std::size_t n, Launch launch) {
  course::GuardedBuffer<float2> results(launch.grid);
  course::launch(half2_dot, {launch.grid, launch.block}, a, b, n, results.data());
  return sums_of(results);
}

void check_launch(const Recordings& r, Launch launch, int times, Starts starts) {
  const course::Placed<__half2> a(r.a, starts.a), b(r.b, starts.b);
  course::GuardedBuffer<float2> results(launch.grid);
  for (int time = 1; time <= times; ++time) {
    INFO((time == 1 ? "first launch" : "second launch: results holds those of the first one"));
    course::launch(half2_dot, {launch.grid, launch.block}, a.data(), b.data(), r.a.size(),
                   results.data());
    const Sums sums = sums_of(results);
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

constexpr unsigned kBlocks[] = {32, 64, 96, 160, 256, 480, 512, 1024};

}  // namespace

TEST_CASE("fix_half2_dot: blocks of 128 threads, wherever the loud part is") {
  // At most 7 products: exact in half, too. So who mends the index passes this, and who mends the
  // tree the next one.
  for (const Kind& kind : kParts) {
    for (const std::size_t n : {1u, 128u, 500u}) check(n, {2, 128}, kind, 2);
  }
}

TEST_CASE("fix_half2_dot: blocks of any number of warps") {
  for (const unsigned block : kBlocks) check(700, {1, block}, kTone);
}

TEST_CASE("fix_half2_dot: every sample counts") {
  for (const std::size_t n : {1u, 128u, 500u}) check(n, {2, 128}, kNoise, 2);
  for (const unsigned block : kBlocks) check(700, {1, block}, kNoise);
}

TEST_CASE("fix_half2_dot: every size and grid") {
  const std::vector<Kind> kinds = all_kinds();
  std::size_t turn = 0;  // other kinds and other grids each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    const std::size_t most = course::kCpuDevice ? 2 : launches.size();
    for (std::size_t k = 0; k < most; ++k) {
      Launch launch = launches[turn * 5 % launches.size()];
      if (course::kCpuDevice) launch.block = std::min(launch.block, 160u);  // 1024 are slow there
      check(n, launch, kinds[turn++ % kinds.size()]);
    }
  }
}

TEST_CASE("fix_half2_dot: every block sets its result, also without samples") {
  for (const Launch launch : {Launch{20, 32}, Launch{5, 96}}) {
    check(0, launch, kNoise);
    check(33, launch, kNoise);
  }
}

TEST_CASE("fix_half2_dot: long recordings") {
  // 2187 samples a lane, and 70,000 in a block: no sum in half gets there.
  const bool again = course::has_run_before();
  for (const auto& kind : {kTone, kNoise}) {
    if (!again) check(70'000, {1, 32}, kind);
  }
  check(course::kBigSize, {7, 96}, kNoise, course::kCpuDevice ? 1 : 20);
}

TEST_CASE("fix_half2_dot: the products are exact") {
  for (const Kind& kind : kExactness) {
    check(1, {1, 32}, kind);
    check(257, {2, 64}, kind);
  }
}

TEST_CASE("fix_half2_dot: recordings begin at any multiple of 4 bytes") {
  for (const Starts starts : {Starts{1, 0}, Starts{0, 1}, Starts{1, 1}, Starts{3, 2}}) {
    for (const std::size_t n : {1u, 8u, 333u}) check(n, {2, 64}, kNoise, 1, starts);
  }
}

TEST_CASE("fix_half2_dot: a recording with itself") {
  const Recordings r = with_itself(record(kNoise, 333).a);
  const course::Placed<__half2> a(r.a, 0);
  INFO("n = 333 samples, a and b are the same array; half2_dot<<<2, 64>>>");
  const Sums sums = run(a.data(), a.data(), r.a.size(), {2, 64});
  REQUIRE(course::same(sums.left, r.left, kLeft));
  REQUIRE(course::same(sums.right, r.right, kRight));
}

TEST_CASE("fix_half2_dot: infinities and NaN, each in its own channel") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr std::size_t at = 70;
  struct Case {
    float x, y, sum;
  };
  for (const Case c : {Case{kInfinity, 2.0f, kInfinity}, Case{kInfinity, 0.0f, kNan},
                       Case{0.0f, -kInfinity, kNan}, Case{kNan, 0.0f, kNan}}) {
    for (const bool in_left : {true, false}) {
      std::vector<__half2> x(100, __floats2half2_rn(1.0f, 1.0f)), y = x;
      x[at] = in_left ? __floats2half2_rn(c.x, 1.0f) : __floats2half2_rn(1.0f, c.x);
      y[at] = in_left ? __floats2half2_rn(c.y, 1.0f) : __floats2half2_rn(1.0f, c.y);
      const course::Placed<__half2> a(x, 0), b(y, 0);
      INFO("n = 100 samples, all are 1 except for a["
           << at << "] = " << c.x << " and b[" << at << "] = " << c.y << " of the "
           << (in_left ? "left" : "right") << " channel; half2_dot<<<2, 64>>>");
      const Sums sums = run(a.data(), b.data(), x.size(), {2, 64});
      REQUIRE(same_or_nan(in_left ? sums.left : sums.right, static_cast<double>(c.sum),
                          in_left ? kLeft : kRight));
      REQUIRE(course::same(in_left ? sums.right : sums.left, 100.0, in_left ? kRight : kLeft));
    }
  }
}

TEST_CASE("fix_half2_dot: the lanes of a warp go in step") {
  for (const std::size_t n : {100u, 1111u}) {
    course::count([&] { check(n, {2, 96}, kNoise); });
  }
}

TEST_CASE("fix_half2_dot: each sample is read once, and the threads share the work") {
  course::skip_without_counters();
  constexpr std::size_t kN = 4096;
  for (const Launch launch : {Launch{4, 128}, Launch{9, 32}}) {
    const auto counters = course::count([&] { check(kN, launch, kNoise); });
    INFO(course::case_text(kN, kNoise.text, "half2_dot", launch));
    constexpr std::uint64_t kLoads = 2 * kN / 32;
    const std::uint64_t warps = launch.grid * launch.block / 32;
    // Who gives each block one stretch ends it in the middle of a warp.
    REQUIRE(course::at_most(counters->global_loads, kLoads + 2 * warps, "loads of the whole grid",
                            "a warp reads 32 samples with one load, and each sample once"));
    // 128 bytes from a multiple of 4 on lie in up to 5 sectors.
    REQUIRE(course::at_most(counters->global_load_sectors, 5 * kLoads,
                            "sectors of 32 bytes of the whole grid",
                            "are the lanes of a warp side by side?"));
    REQUIRE(course::none(counters->global_atomics, "atomics of the whole grid",
                         "each block has a result of its own"));
    REQUIRE(course::at_most(counters->global_stores, 2 * launch.grid, "stores of the whole grid",
                            "one thread of a block sets its result"));
    REQUIRE(course::work_is_shared(*counters, kLoads / warps + 8));
  }
}

TEST_CASE("fix_half2_dot: more than 2^31 samples, 2^32 samples, 2^32 threads") {
  for (const unsigned bits : {31u, 32u}) check_huge((std::size_t{1} << bits) + 77);
  check(5000, {(1u << 22) + 2, 1024}, kNoise);  // with 32 bits the grid has 2048 threads
}
