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

namespace sum_bytes_check {

using Launch = course::LaunchShape;

// ---- bytes --------------------------------------------------------------------------------------

using Bytes = course::DataKind<unsigned char>;
const Bytes kRandom{
    "0 to 255, in no order", [](course::Element e) {
      return static_cast<unsigned char>((static_cast<unsigned>(e.random) * 7 + e.i) % 256);
    }};
const Bytes kWhite{"all are 255", [](course::Element) { return static_cast<unsigned char>(255); }};
const Bytes kEdges{"1 to 64 at both ends, 0 between them", [](course::Element e) {
                     const std::size_t from_end = std::min(e.i, e.n - 1 - e.i);
                     return static_cast<unsigned char>(from_end < 64 ? from_end + 1 : 0);
                   }};

// ---- launches -----------------------------------------------------------------------------------

std::string describe(std::size_t n, std::size_t offset, Launch launch, const Bytes& kind) {
  return course::case_text(
      n, "x is " + std::to_string(offset) + " bytes past a multiple of 16: " + kind.text,
      "sum_bytes", launch);
}

/// What *sum holds after the launch if it held `before`.
unsigned long long run(const unsigned char* d_x, std::size_t n, Launch launch,
                       unsigned long long before) {
  course::Placed<unsigned long long> sum({before}, 0);
  course::launch(sum_bytes, {launch.grid, launch.block}, d_x, n, sum.data());
  const unsigned long long after = sum.download().front();
  CHECK(sum.intact("sum"));
  return after;
}

/// What the difference says: bytes read as signed numbers, sums that are too narrow, or words that
/// were not taken apart.
std::string what_went_wrong(const std::vector<unsigned char>& x, unsigned long long found,
                            unsigned long long expected) {
  const unsigned long long missing = expected - found;  // modulo 2^64
  const auto above =
      std::count_if(x.begin(), x.end(), [](unsigned char byte) { return byte > 127; });
  if (missing > 0 && missing % 65'536 == 0 && missing <= expected) {
    return "Too small by " + std::to_string(missing / 65'536) +
           " * 65536: a sum that is kept in 16 bits loses so much at each overflow.";
  }
  if (missing > 0 && missing % 256 == 0 && missing / 256 <= static_cast<std::uint64_t>(above)) {
    return "Too small by " + std::to_string(missing / 256) + " * 256, and x has " +
           course::counted(static_cast<std::size_t>(above), "byte") +
           " above 127. Read as a signed char, such a byte counts as its value - 256. (A sum that "
           "is kept in a byte loses 256 at each overflow, too.)";
  }
  if (found / 256 >= expected && found < 1ull << 63) {
    return "Far too large: x, y, z and w of a uint4 are four bytes each, and are to be taken apart.";
  }
  return x.empty() ? "" : "sum is computed from " + course::elements_text("x", x, 0, x.size());
}

void check_launch(const std::vector<unsigned char>& x, std::size_t offset, Launch launch,
                  unsigned long long before = 5) {
  INFO("*sum holds " << before << " before the launch");
  const course::Placed<unsigned char> d_x(x, offset);
  const unsigned long long expected = std::accumulate(x.begin(), x.end(), before);
  const unsigned long long found = run(d_x.data(), x.size(), launch, before);
  REQUIRE(course::same(found, expected, "sum", what_went_wrong(x, found, expected)));
}

/// The last bytes of 16 for each of more than 2^32 threads.
void check_end() {
  constexpr std::size_t kAll = 16 * course::kHugeItems, kThere = 16 * course::kLastItems;
  const std::vector<unsigned char> x = kRandom.values(kThere);
  const auto d_x = course::DeviceBuffer<unsigned char>::from(x);
  INFO(describe(kAll, 0, course::kHugeGrid, kRandom));
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    const auto found = run(d_x.data() - (16 * items - kThere), 16 * items, grid, 0);
    REQUIRE(course::same(found, std::accumulate(x.begin(), x.end(), 0ull), "sum"));
  });
}

/// n bytes of 255, which the host has no copy of.
void check_white(std::size_t n, Launch launch, const char* hint = "") {
  INFO(describe(n, 0, launch, kWhite));
  course::DeviceBuffer<unsigned char> d_x(n);
  d_x.fill_bytes(255);
  REQUIRE(course::same(run(d_x.data(), n, launch, 0), 255ull * n, "sum", hint));
}

// Promise: *sum grows by x[0] + ... + x[n-1], exactly, and bytes are unsigned.
TEST_CASE("sum_bytes: whole packs") {
  for (const std::size_t n : {16u, 512u, 4096u}) {
    for (const Bytes& kind : {kRandom, kWhite}) {
      INFO(describe(n, 0, {1, 32}, kind));
      check_launch(kind.values(n), 0, {1, 32});
    }
  }
}

// Promise: n may be 0, less than 16, and no multiple of 16.
// Promise: nothing outside x[0..n-1] is read (OUT OF BOUNDS, UNINITIALISED MEMORY).
TEST_CASE("sum_bytes: every length of the tail") {
  for (std::size_t n = 0; n < 50; ++n) {
    INFO(describe(n, 0, {1, 64}, kEdges));
    check_launch(kEdges.values(n), 0, {1, 64});
  }
}

// Promise: x may begin at any address (MISALIGNED ACCESS).
TEST_CASE("sum_bytes: every start") {
  for (std::size_t offset = 0; offset < 16; ++offset) {
    for (const std::size_t n : {1u, 14u, 17u, 31u, 200u}) {
      INFO(describe(n, offset, {2, 32}, kEdges));
      check_launch(kEdges.values(n), offset, {2, 32});
    }
  }
}

// Promise: the kernel is right for every one-dimensional grid of blocks of 32, 64, ..., 1024
// threads.
TEST_CASE("sum_bytes: every size, every grid") {
  std::size_t turn = 0;  // another start each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<unsigned char> x = kRandom.values(n);
    for (const Launch launch : course::launch_shapes(n / 4)) {
      const std::size_t offset = turn++ * 5 % 16;
      course::in_launch(launch, [&](Launch tried) {
        INFO(describe(n, offset, tried, kRandom));
        check_launch(x, offset, tried);
      });
    }
  }
}

// Promise: blocks have any number of warps from 1 to 32, all of which have packs.
TEST_CASE("sum_bytes: blocks of every number of warps") {
  for (unsigned block = 32; block <= 1024; block += 32) {
    const std::size_t n = 17 * std::size_t{block};
    INFO(describe(n, 3, {1, block}, kRandom));
    check_launch(kRandom.values(n), 3, {1, block});
  }
}

// Promise: *sum holds a number already, perhaps one close to 2^32.
TEST_CASE("sum_bytes: adds to a sum that is close to 2^32") {
  INFO(describe(700, 3, {3, 96}, kWhite));
  check_launch(kWhite.values(700), 3, {3, 96}, 0xffff'fff0ull);
}

// Promise: the sum is exact if all bytes go through one block of 32 threads.
TEST_CASE("sum_bytes: large sums of a single warp") {
  // 80,000 times 255 is more than 2^24, and more than 2^16 for each thread.
  INFO(describe(80'001, 1, {1, 32}, kWhite));
  check_launch(kWhite.values(80'001), 1, {1, 32});
}

// Promise: no byte is lost when many warps add to *sum at the same time (DATA RACE in every test
// case).
TEST_CASE("sum_bytes: many bytes") {
  const std::size_t n = 20 * course::kBigSize;
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a lost update may not show at once
  const std::vector<unsigned char> x = kRandom.values(n);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    INFO(describe(n, 7, {7, 96}, kRandom));
    check_launch(x, 7, {7, 96});
  }
}

// Promise: the sum of a warp may be more than 2^32.
TEST_CASE("sum_bytes: more than 2^32 for a single warp") {
  if (course::has_run_before()) return;
  // 2^32 and more in either half of the warp: the sums that lanes exchange do not fit into 32 bits.
  check_white(33'750'000, {1, 32}, "the sum of a warp needs more than 32 bits here");
}

// Promise: the sum of a thread is exact (a float rounds it).
TEST_CASE("sum_bytes: an odd sum above 2^24 for a single thread") {
  if (course::has_run_before()) return;
  const Bytes kind{"255, and 254 at every 16th place from 3 on", [](course::Element e) {
                     return static_cast<unsigned char>(e.i % 16 == 3 ? 254 : 255);
                   }};
  INFO(describe(3'000'000, 0, {1, 32}, kind));
  check_launch(kind.values(3'000'000), 0, {1, 32});
}

// Promise: the sum of a thread may be more than 2^32 (GPU only).
TEST_CASE("sum_bytes: more than 2^32 for a single thread") {
  const std::size_t n = std::size_t{32} * 17'000'000 + 5;
  course::skip_without_memory(n);
  check_white(n, {1, 32});
}

// Promise: the sum is exact in every order of the lanes.
TEST_CASE("sum_bytes: the lanes of a warp go in step") {
  for (const std::size_t n : {100u, 2111u}) {
    INFO(describe(n, 9, {2, 96}, kRandom));
    course::count([&] { check_launch(kRandom.values(n), 9, {2, 96}); });
  }
}

// Promise: what lies between the first and the last multiple of 16 in x is read in loads of 16
// bytes, 512 bytes per warp (loads, sectors).
// Promise: the threads share the work, and a warp makes at most one atomic on *sum.
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
    REQUIRE(course::at_most(
        counters->global_loads, kN / 512 + kWarps + 30, "loads",
        "a warp reads 512 bytes with one load if its lanes read a uint4 each, and all of "
        "it at once: a member that a pointer or a reference leads to is a "
        "load of its own"));
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

// Promise: the bytes before and after the multiples of 16, fewer than 32, are read one by one.
// Promise: a warp makes at most one atomic on *sum, also if it reads bytes at the ends.
TEST_CASE("sum_bytes: few bytes are read 16 at a time, too") {
  course::skip_without_counters();
  for (const Launch launch : {Launch{2, 64}, Launch{1, 32}}) {
    for (const std::size_t n : {16u, 17u, 31u, 33u, 100u, 1000u}) {
      for (const std::size_t offset : {0u, 5u, 15u}) {
        const course::Placed<unsigned char> d_x(kRandom.values(n), offset);
        const auto counters = course::count([&] { run(d_x.data(), n, launch, 0); });
        INFO(describe(n, offset, launch, kRandom));
        const std::size_t front = std::min(n, (16 - offset) % 16), packs = (n - front) / 16;
        REQUIRE(course::at_most(counters->global_load_lanes, packs + n - 16 * packs,
                                "loads by threads",
                                "one for each 16 bytes, and one for each byte at the two ends"));
        REQUIRE(course::at_most(counters->global_atomic_lanes,
                                std::uint64_t{launch.grid} * launch.block / 32, "atomics on *sum",
                                "a warp makes one for all of its bytes"));
      }
    }
  }
}

// Promise: n, and the threads of the grid, may be more than 2^32 (the CPU device runs the last two
// blocks of a grid that has a thread for each 16 bytes).
TEST_CASE("sum_bytes: more than 2^32 bytes, and more than 2^32 threads") {
  if (course::kCpuDevice) return check_end();
  const std::size_t n = (std::size_t{1} << 32) + 77;
  course::skip_without_memory(n);
  check_white(n, {2048, 256});
  check_white(50'000, course::kHugeGrid);
}

}  // namespace sum_bytes_check
