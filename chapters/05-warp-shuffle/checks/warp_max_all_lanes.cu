// Check of the exercise warp_max_all_lanes: full and partial groups, every kind of grid, NaN and
// infinities in every lane, and what the kernel may use.
#include "warp_max_all_lanes.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "checks/parts_beyond_2_to_31.cuh"

namespace warp_max_all_lanes_check {

using Launch = course::LaunchShape;
const std::vector<std::size_t> kSizesFrom1(course::kSizes.begin() + 1, course::kSizes.end());

// ---- readings -----------------------------------------------------------------------------------

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// No two elements of a group are alike, nor two neighbouring groups.
float number(course::Element e) {
  return 8.0f * static_cast<float>(e.random) + static_cast<float>(e.i % 97) / 128;
}

const course::DataKind<float> kBelowZero{"all below zero",
                                         [](course::Element e) { return -1.0f - number(e); }};
const course::DataKind<float> kMixed{
    "in no order", [](course::Element e) { return e.i % 2 == 0 ? number(e) : -number(e); }};
const course::DataKind<float> kNanAmong{
    "some are NaN, and some groups are nothing but NaN", [](course::Element e) {
      return e.i / 32 % 3 == 2 || (e.i * 7 + e.i / 32) % 5 < 2 ? course::any_nan(e.random)
                                                               : -number(e);
    }};
const course::DataKind<float> kKinds[] = {
    kBelowZero,
    kMixed,
    {"each lower than the one before",
     [](course::Element e) { return 1000.0f - static_cast<float>(e.i); }},
    {"each higher than the one before",
     [](course::Element e) { return static_cast<float>(e.i) - 5000.0f; }},
    kNanAmong,
    {"all are NaN", [](course::Element e) { return course::any_nan(e.i); }},
    {"all are NaN with the sign bit", [](course::Element) { return -kNan; }},
    {"the lowest float, -infinity and NaN",
     [](course::Element e) {
       return e.i % 19 == 4  ? std::numeric_limits<float>::lowest()
              : e.i % 2 == 0 ? -kInfinity
                             : course::any_nan(e.i);
     }},
    {"NaN, infinities and numbers below zero",
     [](course::Element e) {
       if (e.i % 67 == 40) return kInfinity;
       return e.i % 3 == 0 ? -kInfinity : e.i % 5 == 0 ? course::any_nan(e.i) : -number(e);
     }},
};

// ---- the right maxima ---------------------------------------------------------------------------

/// The maximum of each element's group; -infinity where all are NaN.
std::vector<float> group_maxima(const std::vector<float>& x) {
  std::vector<float> highest(x.size());
  for (std::size_t first = 0; first < x.size(); first += 32) {
    const std::size_t end = std::min(first + 32, x.size());
    float maximum = -INFINITY;
    for (std::size_t i = first; i < end; ++i) {
      if (!std::isnan(x[i])) maximum = std::max(maximum, x[i]);
    }
    for (std::size_t i = first; i < end; ++i) highest[i] = maximum;
  }
  return highest;
}

/// What the maximum of the group that begins at x[first] is computed from: "x[32..63], of which
/// x[40] = 3 is the largest number".
std::string group_text(const std::vector<float>& x, std::size_t first, float maximum) {
  const std::size_t end = std::min(first + 32, x.size());
  if (end == first + 1) return course::elements_text("x", x, first, end) + ", alone in its group";
  const std::string group = "x[" + std::to_string(first) + ".." + std::to_string(end - 1) + "]";
  for (std::size_t i = first; i < end; ++i) {
    if (x[i] != maximum) continue;  // true for NaN
    return group + ", of which " + course::elements_text("x", x, i, i + 1) +
           " is the largest number";
  }
  return group + ", which are all NaN";
}

// ---- launches -----------------------------------------------------------------------------------

void check_launch(const std::vector<float>& x, Launch launch) {
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> highest(x.size());
  course::launch(warp_max_all_lanes, {launch.grid, launch.block}, d_x.data(), x.size(),
                 highest.data());
  const std::vector<float> expected = group_maxima(x);
  const auto inputs = [&](std::size_t i) { return group_text(x, i / 32 * 32, expected[i]); };
  REQUIRE(course::same(highest.download(), expected, "highest", inputs));
  REQUIRE(highest.intact("highest"));
}

std::string describe(std::size_t n, Launch launch, const course::DataKind<float>& kind) {
  return course::case_text(n, kind.text, "warp_max_all_lanes", launch);
}

void check_end() {
  const std::vector<float> x = kBelowZero.values(course::kLastItems);
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> highest(x.size());
  INFO(describe(course::kHugeItems, course::kHugeGrid, kBelowZero));
  course::at_end_of_huge_grid([&](Launch grid, std::size_t items) {
    const std::size_t before = items - x.size();  // that are not in memory
    const float* const all = d_x.data() - before;
    float* const all_highest = highest.data() - before;
    const auto c = course::count([&] {
      course::launch(warp_max_all_lanes, {grid.grid, grid.block}, all, items, all_highest);
    });
    REQUIRE(course::same(highest.download(), group_maxima(x), "(highest + 4294967264)"));
    REQUIRE(course::at_most(c->global_load_lanes, course::kLastItems,
                            "loads by the threads of the last two blocks",
                            "each element is loaded once"));
  });
}

// Promise: NaN counts as missing, and a group of NaN has the maximum -infinity.
// Promise: numbers may be negative, and infinite.
TEST_CASE("warp_max_all_lanes: one full warp") {
  for (const auto& kind : kKinds) {
    INFO(describe(32, {1, 32}, kind));
    check_launch(kind.values(32), {1, 32});
  }
}

// Promise: the last group may be shorter, with 1 to 31 elements.
// Promise: every lane that the mask of a warp function names calls that function (WRONG MASK or
// DEADLOCK, or values of absent lanes that differ with each schedule).
TEST_CASE("warp_max_all_lanes: groups that are cut short") {
  for (std::size_t n = 1; n < 70; n += n < 34 ? 3 : 9) {
    for (const auto& kind : {kBelowZero, kNanAmong}) {
      INFO(describe(n, {1, 96}, kind));
      check_launch(kind.values(n), {1, 96});
    }
  }
}

// Promise: highest[i] is the maximum of the group of x[i], for every i < n.
TEST_CASE("warp_max_all_lanes: every size, every kind of data") {
  for (const auto& [n, launch, kind] : course::cases_of(kSizesFrom1, kKinds)) {
    course::in_launch(launch, [n = n, kind = kind](Launch tried) {
      INFO(describe(n, tried, kind));
      check_launch(kind.values(n), tried);
    });
  }
}

// Promise: the kernel is right for every one-dimensional grid of blocks of whole warps.
TEST_CASE("warp_max_all_lanes: every grid") {
  for (const std::size_t n : {300u, 1025u}) {
    const std::vector<float> x = kBelowZero.values(n);
    for (const Launch launch : course::launch_shapes(n)) {
      INFO(describe(n, launch, kBelowZero));
      check_launch(x, launch);
    }
  }
}

// Promise: the maximum is that of the numbers, in whichever lane a NaN is.
TEST_CASE("warp_max_all_lanes: a single NaN, in every lane") {
  for (std::size_t lane = 0; lane < 32; ++lane) {
    std::vector<float> x = kBelowZero.values(64);
    x[lane] = x[32 + (lane + 13) % 32] = course::any_nan(lane);
    INFO("n = 64: x[" << lane << "] and x[" << 32 + (lane + 13) % 32
                      << "] are NaN; warp_max_all_lanes<<<2, 32>>>");
    check_launch(x, {2, 32});
  }
}

// Promise: the maximum is right in whichever lane it is.
TEST_CASE("warp_max_all_lanes: the highest one in every lane") {
  for (std::size_t lane = 0; lane < 32; ++lane) {
    std::vector<float> x(64, -kInfinity);
    x[lane] = -3.0f;
    x[32 + (lane + 13) % 32] = -2.0f;
    INFO("n = 64: -3 in x[" << lane << "], -2 in x[" << 32 + (lane + 13) % 32
                            << "], elsewhere -infinity; warp_max_all_lanes<<<2, 32>>>");
    check_launch(x, {2, 32});
  }
}

// Promise: n may be 0.
TEST_CASE("warp_max_all_lanes: nothing to do") {
  const auto x = course::DeviceBuffer<float>::zeros(1);
  course::GuardedBuffer<float> highest(0, 4);
  INFO("n = 0; warp_max_all_lanes<<<2, 64>>>");
  course::launch(warp_max_all_lanes, {2, 64}, x.data(), 0, highest.data());
  REQUIRE(highest.intact("highest"));
}

// Promise: a grid may have fewer threads than x has elements.
TEST_CASE("warp_max_all_lanes: many groups") {
  const std::size_t n = course::kBigSize;
  for (const Launch launch : {Launch{9, 96}, Launch{2, 1024}}) {
    INFO(describe(n, launch, kNanAmong));
    check_launch(kNanAmong.values(n), launch);
  }
}

// Promise: n may be more than 2^31, and so may the number of threads (the CPU device runs the last two
// blocks of a grid that has a thread for each of more than 2^32 elements).
TEST_CASE("warp_max_all_lanes: more than 2^31 elements") {
  if (course::kCpuDevice) return check_end();
  course::skip_without_memory(2 * part_checks::kBeyond2To31 * sizeof(float));
  course::DeviceBuffer<float> d_x(part_checks::kBeyond2To31);
  course::GuardedBuffer<float> highest(part_checks::kBeyond2To31);
  d_x.fill_bytes(0xC0);  // -6.02...
  for (const std::size_t first : part_checks::kParts) {
    part_checks::write_part(d_x.data() + first, kBelowZero.values(part_checks::part_size(first)));
  }
  INFO(describe(part_checks::kBeyond2To31, {4096, 256}, kBelowZero));
  course::launch(warp_max_all_lanes, {4096, 256}, d_x.data(), part_checks::kBeyond2To31,
                 highest.data());
  for (const std::size_t first : part_checks::kParts) {
    const std::vector<float> expected =
        group_maxima(kBelowZero.values(part_checks::part_size(first)));
    INFO("highest[" << first << "] and those after it");
    REQUIRE(course::same(part_checks::read_part(highest.data() + first, expected.size()), expected,
                         "this part"));
  }
}

// Promise: the maximum is right in every order of the lanes.
TEST_CASE("warp_max_all_lanes: the lanes of a warp go in step") {
  for (const std::size_t n : {33u, 257u}) {
    INFO(describe(n, {2, 96}, kNanAmong));
    course::count([&] { check_launch(kNanAmong.values(n), {2, 96}); });
  }
}

// Promise: the kernel uses no shared memory, no atomics and no barrier.
// Promise: it loads every element once: a warp reads a group with one load.
TEST_CASE("warp_max_all_lanes: one load per group, and nothing but registers") {
  course::skip_without_counters();
  constexpr std::size_t kN = 4096 + 21;  // the last group is short, and is one load as well
  const auto d_x = course::DeviceBuffer<float>::from(kMixed.values(kN));
  course::GuardedBuffer<float> highest(kN);
  const auto counters = course::count([&] {
    course::launch(warp_max_all_lanes, {8, 128}, d_x.data(), kN, highest.data());
  });
  INFO(describe(kN, {8, 128}, kMixed));
  REQUIRE(
      course::same(counters->global_loads, kN / 32 + 1, "loads",
                   "a warp reads a group with one load, and its lanes exchange what they read"));
  REQUIRE(course::same(counters->global_load_lanes, kN, "loads by threads",
                       "each element is loaded once, and lanes past the end load nothing"));
  // Five groups for a warp at most: as many loads, and as many stores.
  REQUIRE(course::work_is_shared(*counters, 16));
  REQUIRE(course::none(counters->shared_loads + counters->shared_stores, "uses of shared memory",
                       "shuffles move values from register to register"));
  REQUIRE(course::none(counters->global_atomics + counters->shared_atomics, "atomics",
                       "each lane has the maximum, and writes its own elements"));
  REQUIRE(course::none(counters->barriers, "barriers of the block", "a warp waits for no other"));
}

}  // namespace warp_max_all_lanes_check
