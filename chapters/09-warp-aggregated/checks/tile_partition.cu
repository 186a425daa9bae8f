// Check of the exercise tile_partition: both halves are there to the last bit, at every size, for
// every grid, beside what launches before have left; and the atomics are counted.
#include "tile_partition.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace tile_partition_check {

using Launch = course::LaunchShape;

enum class Kind { mixed, all_low, all_high, first_low, last_low, by_warp, special };
constexpr Kind kKinds[] = {Kind::mixed,    Kind::all_low, Kind::all_high, Kind::first_low,
                           Kind::last_low, Kind::by_warp, Kind::special};
std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::mixed:
      return "in no order";
    case Kind::all_low:
      return "all below the pivot";
    case Kind::all_high:
      return "none below the pivot";
    case Kind::first_low:
      return "the first one alone is below the pivot";
    case Kind::last_low:
      return "the last one alone is below the pivot";
    case Kind::by_warp:
      return "32 below the pivot, 32 not, and so on";
    case Kind::special:
      return "zeros, infinities, NaN, and the pivot itself";
  }
  return "";
}

constexpr float kPivot = 100'000.0f;

/// Numbers that tell where they come from.
std::vector<float> make_x(Kind kind, std::size_t n) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {kPivot, -0.0f, std::nanf(""), kInfinity, 0.0f, -kInfinity, 99'999.99f};
  const std::vector<int> random = course::position_values<int>(n);
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    bool low = random[i] % 3 != 0;
    if (kind == Kind::all_low) low = true;
    if (kind == Kind::all_high) low = false;
    if (kind == Kind::first_low) low = i == 0;
    if (kind == Kind::last_low) low = i + 1 == n;
    if (kind == Kind::by_warp) low = i / 32 % 2 == 0;
    x[i] = static_cast<float>(i % 90'000) + (low ? 0.0f : kPivot);
    if (kind == Kind::special) x[i] = special[static_cast<std::size_t>(random[i]) % 7];
  }
  return x;
}

std::vector<unsigned> sorted_bits(const float* begin, std::size_t n) {
  std::vector<unsigned> bits(n);
  if (n > 0) std::memcpy(bits.data(), begin, n * sizeof(float));
  std::sort(bits.begin(), bits.end());
  return bits;
}

std::string text_of(unsigned bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return std::isnan(x) ? "NaN" : std::signbit(x) && x == 0 ? "-0" : course::number_text(x);
}

/// The same numbers, each as often, down to the bits.
course::Verdict same_bits(const std::vector<unsigned>& found, const std::vector<unsigned>& expected,
                          const std::string& name) {
  for (std::size_t k = 0; k < expected.size(); ++k) {
    if (found[k] == expected[k]) continue;
    const bool missing = std::count(found.begin(), found.end(), expected[k]) <
                         std::count(expected.begin(), expected.end(), expected[k]);
    return {false, name + ": expected " + std::to_string(expected.size()) +
                       " numbers in any order; " +
                       (missing ? text_of(expected[k]) + " is missing"
                                : text_of(found[k]) + " is there, and does not belong there")};
  }
  return {};
}

std::string describe(Kind kind, std::size_t n, std::size_t spare, Launch launch) {
  return "n = " + std::to_string(n) + ": " + to_string(kind) + "; " + std::to_string(spare) +
         " places more than needed; tile_partition<<<" + std::to_string(launch.grid) + ", " +
         std::to_string(launch.block) + ">>>";
}

constexpr float kFree = -12345.0f;  // in every place of `out` before the launch
constexpr const char* kTaken = "which *used counted as taken before the launch";

/// Ok if `count` places from `from` on hold what they held before.
course::Verdict untouched(const std::vector<float>& out, std::size_t from, std::size_t count,
                          const char* why) {
  for (std::size_t k = from; k < from + count; ++k) {
    if (out[k] == kFree) continue;
    return {false, "out[" + std::to_string(k) + "], " + why + ", was written: found " +
                       course::number_text(out[k])};
  }
  return {};
}

/// Some launches into one output; all of x in each.
void check_launches(const std::vector<float>& x, Launch launch, std::size_t spare, int launches = 1,
                    std::size_t front = 0, std::size_t back = 0) {
  const std::size_t n = x.size();
  const std::size_t capacity = front + back + static_cast<std::size_t>(launches) * n + spare;
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> out(capacity);
  const std::vector<float> before(capacity, kFree);
  if (capacity > 0) {
    CUDA_CHECK(cudaMemcpy(out.data(), before.data(), out.bytes(), cudaMemcpyHostToDevice));
  }
  course::GuardedBuffer<unsigned long long> used(1);
  unsigned long long word = static_cast<unsigned long long>(back) << 32 | front;
  CUDA_CHECK(cudaMemcpy(used.data(), &word, sizeof word, cudaMemcpyHostToDevice));
  for (int k = 0; k < launches; ++k) {
    tile_partition<<<launch.grid, launch.block>>>(d_x.data(), n, kPivot, out.data(), capacity,
                                                  used.data());
    CUDA_CHECK_LAUNCH();
  }
  std::vector<float> low, high;
  for (int k = 0; k < launches; ++k) {
    for (const float value : x) (value < kPivot ? low : high).push_back(value);
  }
  word = used.download().front();
  REQUIRE(course::same(word & 0xffff'ffffu, front + low.size(), "used, low 32 bits (the front)"));
  REQUIRE(course::same(word >> 32, back + high.size(), "used, high 32 bits (the back)"));
  const std::vector<float> found = out.download();
  REQUIRE(untouched(found, 0, front, kTaken));
  REQUIRE(untouched(found, capacity - back, back, kTaken));
  REQUIRE(untouched(found, front + low.size(), spare, "which no number needs"));
  REQUIRE(same_bits(sorted_bits(found.data() + front, low.size()),
                    sorted_bits(low.data(), low.size()), "the front of out"));
  REQUIRE(same_bits(sorted_bits(found.data() + (capacity - back - high.size()), high.size()),
                    sorted_bits(high.data(), high.size()), "the back of out"));
  REQUIRE(out.intact("out"));
  REQUIRE(used.intact("used"));
}

course::Verdict at_most(std::uint64_t found, std::uint64_t most, const std::string& what) {
  if (found <= most) return {};
  return {false,
          what + ": expected at most " + std::to_string(most) + ", found " + std::to_string(found)};
}

}  // namespace tile_partition_check

using namespace tile_partition_check;

TEST_CASE("tile_partition: one tile") {
  for (const unsigned block : {32u, 160u}) {
    for (const Kind kind : kKinds) {
      INFO(describe(kind, block, 0, {1, block}));
      check_launches(make_x(kind, block), {1, block}, 0);
    }
  }
}

TEST_CASE("tile_partition: one tile, where some places are taken") {
  for (const Kind kind : {Kind::mixed, Kind::all_low, Kind::all_high}) {
    INFO(describe(kind, 32, 3, {1, 32}) << "; 5 places at the front and 7 at the back are taken");
    check_launches(make_x(kind, 32), {1, 32}, 3, 1, 5, 7);
  }
}

TEST_CASE("tile_partition: every size, every kind of data") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (int k = 0; k < 2; ++k) {
      const Kind kind = kKinds[turn % std::size(kKinds)];
      const Launch launch = launches[turn++ * 5 % launches.size()];
      const std::size_t spare = turn % 3 * 5;
      INFO(describe(kind, n, spare, launch));
      check_launches(make_x(kind, n), launch, spare);
    }
  }
}

TEST_CASE("tile_partition: every grid") {
  for (const Launch launch : course::launch_shapes(300)) {
    INFO(describe(Kind::mixed, 300, 3, launch));
    check_launches(make_x(Kind::mixed, 300), launch, 3);
  }
}

TEST_CASE("tile_partition: places that are taken stay as they are") {
  for (const Launch launch : {Launch{1, 64}, Launch{4, 96}}) {
    INFO(describe(Kind::mixed, 300, 11, launch) << "; 17 places at the front and 40 at the back "
                                                   "are taken, two launches");
    check_launches(make_x(Kind::mixed, 300), launch, 11, 2, 17, 40);
  }
  INFO(describe(Kind::mixed, 100, 1, {2, 32}) << "; 70000 places at the front and 66000 at the "
                                                 "back are taken");
  check_launches(make_x(Kind::mixed, 100), {2, 32}, 1, 1, 70'000, 66'000);
}

TEST_CASE("tile_partition: many tiles") {
  constexpr std::size_t n = course::kCpuDevice ? 2001 : course::kBigSize;
  for (const Launch launch : {Launch{7, 96}, Launch{(n + 255) / 256, 256}}) {
    INFO(describe(Kind::mixed, n, 0, launch));
    check_launches(make_x(Kind::mixed, n), launch, 0);
  }
}

TEST_CASE("tile_partition: the lanes of a warp go in step") {
  for (const Kind kind : {Kind::mixed, Kind::by_warp}) {
    INFO(describe(kind, 400, 1, {2, 96}));
    course::count([&] { check_launches(make_x(kind, 400), {2, 96}, 1); });
  }
}

TEST_CASE("tile_partition: one atomic a tile") {
  course::skip_without_counters();
  for (const Kind kind : {Kind::mixed, Kind::all_low, Kind::all_high}) {
    for (const Launch launch : {Launch{2, 96}, Launch{9, 64}}) {
      constexpr std::size_t n = 500;
      INFO(describe(kind, n, 0, launch));
      const auto counters = course::count([&] { check_launches(make_x(kind, n), launch, 0); });
      const std::size_t tiles = (n + launch.block - 1) / launch.block;
      REQUIRE(at_most(counters->global_atomic_lanes, tiles, "atomics on global memory"));
      REQUIRE(at_most(counters->shared_atomic_lanes, 0, "atomics on shared memory"));
    }
  }
}

TEST_CASE("tile_partition: the threads share the work") {
  course::skip_without_counters();
  constexpr std::size_t n = 2048;
  const Launch launch{8, 128};
  INFO(describe(Kind::mixed, n, 0, launch));
  const auto counters = course::count([&] { check_launches(make_x(Kind::mixed, n), launch, 0); });
  REQUIRE(at_most(counters->global_loads, n / 32 + 16, "loads"));
  REQUIRE(at_most(counters->global_stores, 2 * n / 32, "stores"));
  REQUIRE(course::work_is_shared(*counters, 8));  // two tiles each: a load and two stores
}
