// Check of the exercise sum_bytes: every start, every length, every kind of grid, sums that are too
// large for bytes, 16 bits, floats and 32 bits, and the loads.
#include "sum_bytes.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "checks/summed_bytes.cuh"

namespace {

using namespace summed;
using Launch = course::LaunchShape;

/// What *sum holds after the launch if it held `before`.
unsigned long long run(const unsigned char* d_x, std::size_t n, Launch launch,
                       unsigned long long before) {
  course::Placed<unsigned long long> sum({before}, 0);
  course::launch(sum_bytes, {launch.grid, launch.block}, d_x, n, sum.data());
  const unsigned long long after = sum.download().front();
  CHECK(sum.intact("sum"));
  return after;
}

void check_launch(const std::vector<unsigned char>& x, std::size_t offset, Launch launch,
                  unsigned long long before = 5) {
  INFO("*sum holds " << before << " before the launch");
  const course::Placed<unsigned char> d_x(x, offset);
  const unsigned long long expected = std::accumulate(x.begin(), x.end(), before);
  const unsigned long long found = run(d_x.data(), x.size(), launch, before);
  REQUIRE(course::same(found, expected, "sum", what_went_wrong(x, found, expected)));
}

/// n bytes of 255, which the host has no copy of.
void check_white(std::size_t n, Launch launch, const char* hint = "") {
  INFO(describe(n, 0, launch, kWhite));
  course::DeviceBuffer<unsigned char> d_x(n);
  d_x.fill_bytes(255);
  REQUIRE(course::same(run(d_x.data(), n, launch, 0), 255ull * n, "sum", hint));
}

}  // namespace

TEST_CASE("sum_bytes: whole packs") {
  for (const std::size_t n : {16u, 512u, 4096u}) {
    for (const Bytes& kind : {kRandom, kWhite}) {
      INFO(describe(n, 0, {1, 32}, kind));
      check_launch(kind.values(n), 0, {1, 32});
    }
  }
}

TEST_CASE("sum_bytes: every length of the tail") {
  for (std::size_t n = 0; n < 50; ++n) {
    INFO(describe(n, 0, {1, 64}, kEdges));
    check_launch(kEdges.values(n), 0, {1, 64});
  }
}

TEST_CASE("sum_bytes: every start") {
  for (std::size_t offset = 0; offset < 16; ++offset) {
    for (const std::size_t n : {1u, 14u, 17u, 31u, 200u}) {
      INFO(describe(n, offset, {2, 32}, kEdges));
      check_launch(kEdges.values(n), offset, {2, 32});
    }
  }
}

TEST_CASE("sum_bytes: every size, every grid") {
  std::size_t turn = 0;  // another start each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<unsigned char> x = kRandom.values(n);
    for (const Launch launch : course::launch_shapes(n / 4)) {
      const std::size_t offset = turn++ * 5 % 16;
      INFO(describe(n, offset, launch, kRandom));
      check_launch(x, offset, launch);
    }
  }
}

TEST_CASE("sum_bytes: adds to a sum that is close to 2^32") {
  INFO(describe(700, 3, {3, 96}, kWhite));
  check_launch(kWhite.values(700), 3, {3, 96}, 0xffff'fff0ull);
}

TEST_CASE("sum_bytes: large sums of a single warp") {
  // 80,000 times 255 is more than 2^24, and more than 2^16 for each thread.
  INFO(describe(80'001, 1, {1, 32}, kWhite));
  check_launch(kWhite.values(80'001), 1, {1, 32});
}

TEST_CASE("sum_bytes: many bytes") {
  const std::size_t n = 20 * course::kBigSize;
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a lost update may not show at once
  const std::vector<unsigned char> x = kRandom.values(n);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    INFO(describe(n, 7, {7, 96}, kRandom));
    check_launch(x, 7, {7, 96});
  }
}

TEST_CASE("sum_bytes: more than 2^32 for a single warp") {
  if (course::has_run_before()) return;
  // 2^32 and more in either half of the warp: the sums that lanes exchange do not fit into 32 bits.
  check_white(33'750'000, {1, 32}, "that of a warp needs more than 32 bits here");
}

TEST_CASE("sum_bytes: an odd sum above 2^24 for a single thread") {
  if (course::has_run_before()) return;
  const Bytes kind{"255, and 254 at every 16th place from 3 on", [](course::Element e) {
                     return static_cast<unsigned char>(e.i % 16 == 3 ? 254 : 255);
                   }};
  INFO(describe(3'000'000, 0, {1, 32}, kind));
  check_launch(kind.values(3'000'000), 0, {1, 32});
}

TEST_CASE("sum_bytes: more than 2^32 for a single thread") {
  const std::size_t n = std::size_t{32} * 17'000'000 + 5;
  course::skip_without_memory(n);
  check_white(n, {1, 32});
}

TEST_CASE("sum_bytes: more than 2^32 bytes, and more than 2^32 threads") {
  const std::size_t n = (std::size_t{1} << 32) + 77;
  course::skip_without_memory(n);
  check_white(n, {2048, 256});
  check_white(50'000, {(1u << 22) + 2, 1024});  // with 32 bits the grid has 2048 threads
}

TEST_CASE("sum_bytes: the lanes of a warp go in step") {
  for (const std::size_t n : {100u, 2111u}) {
    INFO(describe(n, 9, {2, 96}, kRandom));
    course::count([&] { check_launch(kRandom.values(n), 9, {2, 96}); });
  }
}

TEST_CASE("sum_bytes: 16 bytes per load, an atomic per warp") {
  course::skip_without_counters();
  constexpr std::size_t kN = 65'536;
  constexpr Launch kLaunch{4, 128};
  constexpr std::uint64_t kWarps = 16;
  for (const std::size_t offset : {0u, 5u}) {
    const course::Placed<unsigned char> d_x(kRandom.values(kN), offset);
    const auto counters = course::count([&] { run(d_x.data(), kN, kLaunch, 0); });
    INFO(describe(kN, offset, kLaunch, kRandom));
    // 512 bytes with each load, a few loads that are not full, and up to 30 single bytes.
    REQUIRE(course::at_most(counters->global_loads, kN / 512 + kWarps + 30, "loads",
                            "a warp reads 512 bytes with one load if its lanes read a uint4 each"));
    REQUIRE(course::at_most(counters->global_load_sectors, kN / 32 + kN / 512 + 2 * kWarps + 34,
                            "sectors of 32 bytes that were loaded",
                            "the lanes of a warp read neighbouring packs, and each is read once"));
    // Eight full loads for each warp; one of them may read up to 30 single bytes besides.
    REQUIRE(course::work_is_shared(*counters, 8 + 4 + (offset == 0 ? 0 : 30)));
    REQUIRE(
        course::at_most(counters->global_atomics, kWarps, "atomics on *sum", "a warp sums first"));
    REQUIRE(course::at_most(counters->global_atomic_lanes, kWarps, "threads that issue an atomic",
                            "one lane adds for its warp"));
    REQUIRE(course::at_most(counters->shared_atomic_lanes, kWarps, "atomics on shared memory",
                            "a warp sums first, and one lane adds for it"));
  }
}

TEST_CASE("sum_bytes: few bytes are read 16 at a time, too") {
  course::skip_without_counters();
  for (const std::size_t n : {33u, 100u, 1000u}) {
    for (const std::size_t offset : {0u, 5u}) {
      const course::Placed<unsigned char> d_x(kRandom.values(n), offset);
      const auto counters = course::count([&] { run(d_x.data(), n, {2, 64}, 0); });
      INFO(describe(n, offset, {2, 64}, kRandom));
      const std::size_t packs = (n - (16 - offset) % 16) / 16;
      REQUIRE(course::at_most(counters->global_load_lanes, packs + n - 16 * packs,
                              "loads by threads",
                              "one for each 16 bytes, and one for each byte at the two ends"));
    }
  }
}
