// Check of the exercise warp_max_all_lanes: full and partial groups, every kind of grid, NaN and
// infinities in every place, and what the kernel may use.
#include "warp_max_all_lanes.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cmath>
#include <course/check.cuh>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace {

using Launch = course::LaunchShape;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

enum class Kind { below_zero, mixed, highest_first, highest_last, nan_among, nan_only, infinities };
constexpr Kind kKinds[] = {Kind::below_zero,   Kind::mixed,     Kind::highest_first,
                           Kind::highest_last, Kind::nan_among, Kind::nan_only,
                           Kind::infinities};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::below_zero:
      return "all below zero";
    case Kind::mixed:
      return "in no order";
    case Kind::highest_first:
      return "each lower than the one before";
    case Kind::highest_last:
      return "each higher than the one before";
    case Kind::nan_among:
      return "some are NaN, and some groups are nothing but NaN";
    case Kind::nan_only:
      return "all are NaN";
    case Kind::infinities:
      return "NaN, infinities and numbers below zero";
  }
  return "";
}

std::vector<float> make_readings(Kind kind, std::size_t n) {
  const std::vector<float> random = course::position_values<float>(n);
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    // No two elements of a group are alike, nor two neighbouring groups.
    const float number = random[i] * 64 + static_cast<float>(i % 97) / 128;
    const auto position = static_cast<float>(i);
    switch (kind) {
      case Kind::below_zero:
        x[i] = -1.0f - number;
        break;
      case Kind::mixed:
        x[i] = i % 2 == 0 ? number : -number;
        break;
      case Kind::highest_first:
        x[i] = 1000.0f - position;
        break;
      case Kind::highest_last:
        x[i] = position - 5000.0f;
        break;
      case Kind::nan_among:
        x[i] = i / 32 % 3 == 2 || (i * 7 + i / 32) % 5 < 2 ? kNan : -number;
        break;
      case Kind::nan_only:
        x[i] = kNan;
        break;
      case Kind::infinities:
        x[i] = i % 67 == 40 ? kInfinity : i % 3 == 0 ? -kInfinity : i % 5 == 0 ? kNan : -number;
        break;
    }
  }
  return x;
}

std::vector<float> reference(const std::vector<float>& x) {
  std::vector<float> highest(x.size());
  for (std::size_t first = 0; first < x.size(); first += 32) {
    const std::size_t end = std::min(first + 32, x.size());
    float maximum = -kInfinity;
    for (std::size_t i = first; i < end; ++i) {
      if (!std::isnan(x[i])) maximum = std::max(maximum, x[i]);
    }
    for (std::size_t i = first; i < end; ++i) highest[i] = maximum;
  }
  return highest;
}

void check_launch(const std::vector<float>& x, Launch launch) {
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::GuardedBuffer<float> highest(x.size());
  warp_max_all_lanes<<<launch.grid, launch.block>>>(d_x.data(), x.size(), highest.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(course::same(highest.download(), reference(x), "highest"));
  REQUIRE(highest.intact("highest"));
}

std::string describe(std::size_t n, Launch launch, Kind kind) {
  return "n = " + std::to_string(n) + ": " + to_string(kind) + "; warp_max_all_lanes<<<" +
         std::to_string(launch.grid) + ", " + std::to_string(launch.block) + ">>>";
}

/// Ok if there is nothing of it.
course::Verdict none(std::uint64_t found, const std::string& what, const std::string& hint) {
  if (found == 0) return {};
  return {false, what + ": expected none, found " + std::to_string(found) + "; " + hint};
}

}  // namespace

TEST_CASE("warp_max_all_lanes: one full warp") {
  for (const Kind kind : kKinds) {
    INFO(describe(32, {1, 32}, kind));
    check_launch(make_readings(kind, 32), {1, 32});
  }
}

TEST_CASE("warp_max_all_lanes: groups that are cut short") {
  for (std::size_t n = 1; n < 70; n += n < 34 ? 3 : 9) {
    for (const Kind kind : {Kind::below_zero, Kind::nan_among}) {
      INFO(describe(n, {1, 96}, kind));
      check_launch(make_readings(kind, n), {1, 96});
    }
  }
}

TEST_CASE("warp_max_all_lanes: every size, every kind of data") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    if (n == 0) continue;
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const Kind kind : kKinds) {
      const Launch launch = launches[turn++ % launches.size()];
      INFO(describe(n, launch, kind));
      check_launch(make_readings(kind, n), launch);
    }
  }
}

TEST_CASE("warp_max_all_lanes: every grid") {
  for (const std::size_t n : {300u, 1025u}) {
    const std::vector<float> x = make_readings(Kind::below_zero, n);
    for (const Launch launch : course::launch_shapes(n)) {
      INFO(describe(n, launch, Kind::below_zero));
      check_launch(x, launch);
    }
  }
}

TEST_CASE("warp_max_all_lanes: a single NaN, in every lane") {
  for (std::size_t lane = 0; lane < 32; ++lane) {
    std::vector<float> x = make_readings(Kind::below_zero, 64);
    x[lane] = x[32 + (lane + 13) % 32] = kNan;
    INFO("n = 64: x[" << lane << "] and x[" << 32 + (lane + 13) % 32
                      << "] are NaN; warp_max_all_lanes<<<2, 32>>>");
    check_launch(x, {2, 32});
  }
}

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

TEST_CASE("warp_max_all_lanes: nothing to do") {
  const auto x = course::DeviceBuffer<float>::zeros(1);
  course::GuardedBuffer<float> highest(0, 4);
  INFO("n = 0; warp_max_all_lanes<<<2, 64>>>");
  warp_max_all_lanes<<<2, 64>>>(x.data(), 0, highest.data());
  CUDA_CHECK_LAUNCH();
  REQUIRE(highest.intact("highest"));
}

TEST_CASE("warp_max_all_lanes: many groups") {
  const std::size_t n = course::kBigSize;
  for (const Launch launch : {Launch{9, 96}, Launch{2, 1024}}) {
    INFO(describe(n, launch, Kind::nan_among));
    check_launch(make_readings(Kind::nan_among, n), launch);
  }
}

TEST_CASE("warp_max_all_lanes: more than 2^31 elements") {
  constexpr std::size_t k2To31 = std::size_t{1} << 31, kN = k2To31 + 77;
  course::skip_without_memory(2 * kN * sizeof(float));
  course::DeviceBuffer<float> d_x(kN);
  course::GuardedBuffer<float> highest(kN);
  d_x.fill_bytes(0xC0);  // -6.02...
  // Three groups each: the first ones, the last ones below 2^31, and those from there to the end.
  const auto part = [](std::size_t first) {
    return make_readings(Kind::below_zero, first == k2To31 ? 77 : 96);
  };
  for (const std::size_t first : {std::size_t{0}, k2To31 - 96, k2To31}) {
    const std::vector<float> x = part(first);
    CUDA_CHECK(
        cudaMemcpy(d_x.data() + first, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice));
  }
  INFO(describe(kN, {4096, 256}, Kind::below_zero));
  warp_max_all_lanes<<<4096, 256>>>(d_x.data(), kN, highest.data());
  CUDA_CHECK_LAUNCH();
  for (const std::size_t first : {std::size_t{0}, k2To31 - 96, k2To31}) {
    const std::vector<float> expected = reference(part(first));
    std::vector<float> found(expected.size());
    CUDA_CHECK(cudaMemcpy(found.data(), highest.data() + first, found.size() * sizeof(float),
                          cudaMemcpyDeviceToHost));
    INFO("highest[" << first << "] and those behind it");
    REQUIRE(course::same(found, expected, "this part"));
  }
}

TEST_CASE("warp_max_all_lanes: the lanes of a warp go in step") {
  for (const std::size_t n : {33u, 257u}) {
    INFO(describe(n, {2, 96}, Kind::nan_among));
    course::count([&] { check_launch(make_readings(Kind::nan_among, n), {2, 96}); });
  }
}

TEST_CASE("warp_max_all_lanes: one load a group, and nothing but registers") {
  course::skip_without_counters();
  constexpr std::size_t kN = 4096 + 21;  // the last group is short, and is one load as well
  const auto d_x = course::DeviceBuffer<float>::from(make_readings(Kind::mixed, kN));
  course::GuardedBuffer<float> highest(kN);
  const auto counters = course::count([&] {
    warp_max_all_lanes<<<8, 128>>>(d_x.data(), kN, highest.data());
    CUDA_CHECK_LAUNCH();
  });
  INFO(describe(kN, {8, 128}, Kind::mixed));
  REQUIRE(
      course::same(counters->global_loads, kN / 32 + 1, "loads",
                   "a warp reads a group with one load, and its lanes exchange what they read"));
  // Five groups for a warp at most: as many loads, and as many stores.
  REQUIRE(course::work_is_shared(*counters, 16));
  REQUIRE(none(counters->shared_loads + counters->shared_stores, "uses of shared memory",
               "shuffles move values from register to register"));
  REQUIRE(none(counters->global_atomics + counters->shared_atomics, "atomics",
               "each lane has the maximum, and writes its own place"));
  REQUIRE(none(counters->barriers, "barriers of the block", "a warp waits for nobody else"));
}
