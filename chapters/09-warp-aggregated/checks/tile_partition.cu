// Check of the exercise tile_partition: both halves are there to the last bit, at every size, for
// every grid, beside what launches before have left; and the atomics are counted.
#include "tile_partition.cuh"

#include <algorithm>
#include <bit>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace tile_partition_check {

using Launch = course::LaunchShape;
using E = course::Element;

// ---- numbers and pivots ------------------------------------------------------------------------

constexpr float kPivot = 100'000.0f, kInfinity = std::numeric_limits<float>::infinity();

struct Kind : course::DataKind<float> {
  float pivot = kPivot;
};

/// A number that tells where it comes from.
float number(E e, bool low) { return static_cast<float>(e.i % 90'000) + (low ? 0.0f : kPivot); }

const Kind kMixed{{"in no order", [](E e) { return number(e, e.random % 3 != 0); }}};
const Kind kAllLow{{"all below the pivot", [](E e) { return number(e, true); }}};
const Kind kAllHigh{{"none below the pivot", [](E e) { return number(e, false); }}};
const Kind kByWarp{
    {"32 below the pivot, 32 not, and so on", [](E e) { return number(e, e.i / 32 % 2 == 0); }}};
/// One of the numbers that compare in their own way.
float special(E e) {
  const float numbers[] = {kPivot,     -0.0f,     course::any_nan(e.i), kInfinity, 0.0f,
                           -kInfinity, 99'999.99f};
  return numbers[e.random % 7];
}
const Kind kKinds[] = {
    kMixed,
    kAllLow,
    kAllHigh,
    {{"the first one alone is below the pivot", [](E e) { return number(e, e.i == 0); }}},
    {{"the last one alone is below the pivot", [](E e) { return number(e, e.i + 1 == e.n); }}},
    kByWarp,
    {{"zeros, infinities, NaN, and the pivot itself", special}},
    {{"zeros, infinities and NaN; the pivot is 0", special}, 0.0f},
    {{"zeros, infinities and NaN; the pivot is infinity", special}, kInfinity},
    {{"zeros, infinities and NaN; the pivot is NaN", special}, std::nanf("")}};

// ---- the two ends of the output ----------------------------------------------------------------

std::vector<unsigned> sorted_bits(const float* begin, std::size_t n) {
  std::vector<unsigned> bits(n);
  if (n > 0) std::memcpy(bits.data(), begin, n * sizeof(float));
  std::sort(bits.begin(), bits.end());
  return bits;
}

std::string text_of(unsigned bits) {
  const auto x = std::bit_cast<float>(bits);
  return std::isnan(x) ? "NaN" : std::signbit(x) && x == 0 ? "-0" : course::number_text(x);
}

/// The same numbers, each as often, down to the bits.
course::Verdict same_bits(const std::vector<unsigned>& found, const std::vector<unsigned>& expected,
                          const std::string& name) {
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (found[k] == expected[k]) continue;
    const bool missing =
        std::ranges::count(found, expected[k]) < std::ranges::count(expected, expected[k]);
    return {false, name + ": expected " + std::to_string(expected.size()) +
                       " numbers in any order; " +
                       (missing ? text_of(expected[k]) + " is missing"
                                : text_of(found[k]) + " is there, and does not belong there")};
  }
  return {};
}

constexpr float kFree = -12345.0f;  // in every place of `out` before the launch

/// Ok if `count` places from `from` on hold what they held before; out[0] is place `first`.
course::Verdict untouched(const std::vector<float>& out, std::size_t from, std::size_t count,
                          std::size_t first, const char* why) {
  for (std::size_t k = from; k < from + count; ++k) {
    if (out[k] == kFree) continue;
    return {false, "out[" + std::to_string(first + k) + "], " + why + ", was written: found " +
                       course::number_text(out[k])};
  }
  return {};
}

/// "out[9], in the front, holds -0, which is not below the pivot": the first number that belongs to the other side, of what
/// *used counts; empty if there is none.
std::string wrong_side(const std::vector<float>& out, std::size_t first, std::size_t count,
                       float pivot, bool is_front) {
  for (std::size_t k = first; k < std::min(first + count, out.size()); ++k) {
    if ((out[k] < pivot) == is_front || out[k] == kFree) continue;
    return "out[" + std::to_string(k) + "], in the " + (is_front ? "front" : "back") + ", holds " +
           text_of(std::bit_cast<unsigned>(out[k])) + ", which is " + (is_front ? "not " : "") +
           "below the pivot";
  }
  return "";
}

// ---- some launches into one output -------------------------------------------------------------

/// Places of `out` that no number needs, and those that are taken before the first launch.
struct Places {
  std::size_t spare = 0, front = 0, back = 0;
  /// Places at both ends that have no memory: they are taken, and nothing may touch them.
  std::size_t far_front = 0, far_back = 0;
  /// Numbers before those in memory: of blocks that do not run.
  std::size_t far_numbers = 0;
};

constexpr const char* kTaken = "which *used counted as taken before the launch";

/// Some launches into one output; all n numbers in each.
void check_launches(const Kind& kind, std::size_t n, Launch launch, const Places& places = {},
                    std::size_t launches = 1) {
  const auto& [spare, front, back, far_front, far_back, far_numbers] = places;
  INFO(course::case_text(far_numbers + n, kind.text, "tile_partition", launch)
       << "; " << spare << " places more than needed, " << far_front + front
       << " taken at the front, " << far_back + back << " at the back"
       << (launches > 1 ? "; two launches" : "")
       << (far_front + far_back > 0 ? "; an int does not hold these places" : ""));
  const std::vector<float> x = kind.values(n);
  const std::size_t capacity = front + back + launches * n + spare;
  const course::Placed<float> numbers(x, 1);  // never where four numbers could be one load
  const float* const d_x = numbers.data() - far_numbers;
  course::Placed<float> memory(std::vector<float>(capacity, kFree), 0);
  float* const out = memory.data() - far_front;
  const unsigned long long taken = (far_back + back) << 32 | (far_front + front);
  course::Placed<unsigned long long> used({taken}, 0);
  for (std::size_t k = 0; k < launches; ++k) {
    course::launch(tile_partition, {launch.grid, launch.block}, d_x, far_numbers + n, kind.pivot,
                   out, far_front + capacity + far_back, used.data());
  }
  std::vector<float> low, high;
  for (std::size_t k = 0; k < launches * n; ++k)
    (x[k % n] < kind.pivot ? low : high).push_back(x[k % n]);
  const unsigned long long word = used.download().front();
  const std::vector<float> found = memory.download();
  const std::size_t in_front = (word & 0xffff'ffffu) - far_front - front;
  const std::size_t in_back =
      std::min<std::size_t>((word >> 32) - far_back - back, capacity - back);
  REQUIRE(course::same(word & 0xffff'ffffu, far_front + front + low.size(),
                       "used, low 32 bits (the front)",
                       wrong_side(found, front, in_front, kind.pivot, true)));
  REQUIRE(course::same(word >> 32, far_back + back + high.size(), "used, high 32 bits (the back)",
                       wrong_side(found, capacity - back - in_back, in_back, kind.pivot, false)));
  REQUIRE(untouched(found, 0, front, far_front, kTaken));
  REQUIRE(untouched(found, capacity - back, back, far_front, kTaken));
  REQUIRE(untouched(found, front + low.size(), spare, far_front, "which no number needs"));
  REQUIRE(same_bits(sorted_bits(found.data() + front, low.size()),
                    sorted_bits(low.data(), low.size()), "the front of out"));
  REQUIRE(same_bits(sorted_bits(found.data() + (capacity - back - high.size()), high.size()),
                    sorted_bits(high.data(), high.size()), "the back of out"));
  REQUIRE(memory.intact("out"));
  REQUIRE(used.intact("used"));
}

// Promise: numbers below the pivot go to the front of out, the others to the back, each of the two
// in any order (compared bit by bit).
// Promise: NaN is not below anything, and nothing is below a NaN.
TEST_CASE("tile_partition: one tile") {
  for (const unsigned block : {32u, 160u, 1024u}) {
    for (const Kind& kind : kKinds) check_launches(kind, block, {1, block});
  }
}

// Promise: the low 32 bits of *used count the numbers at the front, its
// high 32 bits those at the back.
TEST_CASE("tile_partition: one tile, where some places are taken") {
  for (const Kind& kind : {kMixed, kAllLow, kAllHigh}) {
    check_launches(kind, 32, {1, 32}, {3, 5, 7});
  }
}

// Promise: blocks have 32, 64, ... or 1024 threads, and n may be 0.
TEST_CASE("tile_partition: every size, every kind of data") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (int k = 0; k < 2; ++k) {
      const std::size_t spare = (turn + 1) % 3 * 5;
      const Kind& kind = kKinds[turn % std::size(kKinds)];
      course::in_launch(launches[turn++ * 5 % launches.size()],
                        [&](Launch launch) { check_launches(kind, n, launch, {spare}); });
    }
  }
}

// Promise: any number of blocks is right: more than there are tiles, or fewer.
TEST_CASE("tile_partition: every grid") {
  for (const Launch launch : course::launch_shapes(300)) check_launches(kMixed, 300, launch, {3});
}

// Promise: *used may hold the counts of earlier launches, whose places are taken.
// Promise: places that no number needs stay as they are.
TEST_CASE("tile_partition: places that are taken stay as they are") {
  for (const Launch launch : {Launch{1, 64}, Launch{4, 96}}) {
    check_launches(kMixed, 300, launch, {11, 17, 40}, 2);
  }
  check_launches(kMixed, 100, {2, 32}, {1, 70'000, 66'000});
}

// Promise: capacity is any number below 2^32.
TEST_CASE("tile_partition: places past 2^31, and close to 2^32") {
  for (const Kind& kind : {kMixed, kAllLow, kAllHigh}) {
    for (const Places& places :
         {Places{2, 1, 3, 2'147'483'600, 5}, Places{2, 1, 3, 5, 2'147'483'600},
          Places{0, 0, 0, 0xffff'fe00, 0}, Places{0, 0, 0, 0, 0xffff'fe00},
          Places{1, 2, 3, 1'900'000'000, 2'200'000'000}}) {
      check_launches(kind, 100, {2, 32}, places);
    }
  }
}

// Promise: any number of blocks is right, those of a grid of more than 2^32 threads, too.
TEST_CASE("tile_partition: more than 2^32 threads") {
  course::in_huge_grids(100, [](course::LaunchShape grid) { check_launches(kMixed, 100, grid); });
}

// Promise: n is any number that fits: the last two tiles of nearly 2^32 numbers.
TEST_CASE("tile_partition: nearly 2^32 numbers") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks");
  constexpr Launch kTileEach{(1u << 27) - 1, 32};
  INFO(
      "a tile for each block; of the blocks the last two run, and memory is there for their numbers");
  course::at_end_of_grid(kTileEach, [&](Launch grid) {
    const std::size_t others = (grid.grid - 2) * std::size_t{32};
    check_launches(kMixed, 60, grid, {0, 0, 0, others - others / 2, others / 2, others});
  });
}

// Promise: no number gets lost if many blocks take many tiles in turn.
TEST_CASE("tile_partition: many tiles") {
  constexpr std::size_t n = course::kCpuDevice ? 2001 : course::kBigSize;
  for (const Launch launch : {Launch{7, 96}, Launch{(n + 255) / 256, 256}}) {
    check_launches(kMixed, n, launch);
  }
}

// Promise: what the threads of a block pass on is ordered (DATA RACE), also where the
// lanes of a warp go in step.
TEST_CASE("tile_partition: the lanes of a warp go in step") {
  for (const Kind& kind : {kMixed, kByWarp}) {
    course::count([&] { check_launches(kind, 400, {2, 96}, {1}); });
  }
}

// Promise: a tile of blockDim.x numbers makes no more than one atomic on global
// memory, and none on shared memory.
TEST_CASE("tile_partition: one atomic per tile") {
  course::skip_without_counters();
  for (const Kind& kind : {kMixed, kAllLow, kAllHigh}) {
    for (const Launch launch : {Launch{2, 96}, Launch{9, 64}}) {
      for (const std::size_t n : {500u, 576u, 0u}) {  // 576 numbers are whole tiles
        const auto counters = course::count([&] { check_launches(kind, n, launch); });
        const std::size_t tiles = (n + launch.block - 1) / launch.block;
        INFO(course::case_text(n, kind.text, "tile_partition", launch));
        REQUIRE(course::at_most(counters->global_atomic_lanes, tiles, "atomics on global memory"));
        REQUIRE(course::none(counters->shared_atomic_lanes, "atomics on shared memory"));
      }
    }
  }
}

// Promise: the threads share the work.
// Promise: each number is read once and written once.
TEST_CASE("tile_partition: the threads share the work") {
  course::skip_without_counters();
  constexpr std::size_t n = 2048;
  const Launch launch{8, 128};
  const auto counters = course::count([&] { check_launches(kMixed, n, launch); });
  INFO(course::case_text(n, kMixed.text, "tile_partition", launch));
  REQUIRE(course::at_most(counters->global_loads, n / 32 + 16, "loads",
                          "each number is read once, 32 of them by one load of a warp"));
  REQUIRE(course::at_most(counters->global_stores, 2 * n / 32, "stores",
                          "each number is written once, by the thread that has it"));
  REQUIRE(course::work_is_shared(*counters, 8));  // two tiles each: a load and two stores
}

}  // namespace tile_partition_check
