// Check of the exercise lost_update: the peak in every place, below zero, under every kind of grid,
// and with neighbours that try to raise it at the same time.
#include "lost_update.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using Launch = course::LaunchShape;

enum class Kind { rising, falling, frost, random, peak_first, peak_last, constant, extreme };
constexpr Kind kKinds[] = {Kind::rising,     Kind::falling,   Kind::frost,    Kind::random,
                           Kind::peak_first, Kind::peak_last, Kind::constant, Kind::extreme};

std::string to_string(Kind kind) {
  switch (kind) {
    case Kind::rising:
      return "each higher than the one before";
    case Kind::falling:
      return "each lower than the one before";
    case Kind::frost:
      return "all below zero";
    case Kind::random:
      return "in no order";
    case Kind::peak_first:
      return "the peak comes first";
    case Kind::peak_last:
      return "the peak comes last";
    case Kind::constant:
      return "all the same";
    case Kind::extreme:
      return "from INT_MIN to INT_MAX";
  }
  return "";
}

std::vector<int> make_readings(Kind kind, std::size_t n) {
  const std::vector<int> random = course::position_values<int>(n);
  std::vector<int> readings(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int position = static_cast<int>(i);
    switch (kind) {
      case Kind::rising:
        readings[i] = position - 40;
        break;
      case Kind::falling:
        readings[i] = 2000 - position;
        break;
      case Kind::frost:
        readings[i] = -1 - random[i];
        break;
      case Kind::random:
        readings[i] = random[i] - 500;
        break;
      case Kind::peak_first:
        readings[i] = i == 0 ? 5000 : random[i];
        break;
      case Kind::peak_last:
        readings[i] = i + 1 == n ? 5000 : random[i];
        break;
      case Kind::constant:
        readings[i] = 217;
        break;
      case Kind::extreme:
        readings[i] = i % 3 == 0 ? INT_MIN : i % 3 == 1 ? random[i] : INT_MAX;
        break;
    }
  }
  return readings;
}

constexpr int kLimit = 300;

struct Summary {
  unsigned alarms;
  int peak;
};

Summary reference(const std::vector<int>& readings, Summary before) {
  for (const int reading : readings) {
    before.alarms += reading > kLimit ? 1 : 0;
    before.peak = std::max(before.peak, reading);
  }
  return before;
}

/// Launches the kernel on outputs that hold `before`, and checks what they hold then.
void check_launch(const std::vector<int>& values, Launch launch, Summary before) {
  INFO("peak holds " << before.peak << " before the launch, alarms " << before.alarms);
  const auto readings = course::DeviceBuffer<int>::from(values);
  course::GuardedBuffer<unsigned> alarms(1);
  course::GuardedBuffer<int> peak(1);
  CUDA_CHECK(cudaMemcpy(alarms.data(), &before.alarms, sizeof(unsigned), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(peak.data(), &before.peak, sizeof(int), cudaMemcpyHostToDevice));
  summarize_readings<<<launch.grid, launch.block>>>(readings.data(), values.size(), kLimit,
                                                    alarms.data(), peak.data());
  CUDA_CHECK_LAUNCH();
  const Summary expected = reference(values, before);
  const int found = peak.download().front();
  const char* const hint = found >= expected.peak ? ""
                                                  : "Too low: was the highest reading never looked "
                                                    "at, or was it there, and a lower one was\n"
                                                    "written over it?";
  REQUIRE(course::same(found, expected.peak, "peak", hint));
  REQUIRE(course::same(alarms.download().front(), expected.alarms, "alarms"));
  REQUIRE(peak.intact("peak"));
  REQUIRE(alarms.intact("alarms"));
}

/// Ok if the loads of n elements can come from warps that read 32 of them with one load.
course::Verdict shared_by_warps(std::uint64_t loads, std::uint64_t n) {
  if (loads <= n / 4) return {};
  return {false, "loads: expected at most " + std::to_string(n / 4) +
                     " for the whole grid, found " + std::to_string(loads) +
                     "; a warp reads 32 readings with one load if its lanes share the work"};
}

std::string describe(std::size_t n, Launch launch, Kind kind) {
  return "n = " + std::to_string(n) + ": " + to_string(kind) + "; summarize_readings<<<" +
         std::to_string(launch.grid) + ", " + std::to_string(launch.block) + ">>>, limit " +
         std::to_string(kLimit);
}

}  // namespace

TEST_CASE("lost_update: peak and alarms are right at every size") {
  std::size_t turn = 0;  // another grid each time
  for (const std::size_t n : course::kSizes) {
    const std::vector<Launch> launches = course::launch_shapes(n);
    for (const Kind kind : kKinds) {
      const Launch launch = launches[turn++ % launches.size()];
      INFO(describe(n, launch, kind));
      check_launch(make_readings(kind, n), launch, {7, INT_MIN});
    }
  }
}

TEST_CASE("lost_update: peak and alarms are right for every grid") {
  for (const Kind kind : {Kind::falling, Kind::random}) {
    for (const Launch launch : course::launch_shapes(1025)) {
      INFO(describe(1025, launch, kind));
      check_launch(make_readings(kind, 1025), launch, {0, INT_MIN});
    }
  }
}

TEST_CASE("lost_update: a peak that is higher than all readings stays") {
  for (const Kind kind : {Kind::frost, Kind::random, Kind::constant}) {
    for (const Launch launch : {Launch{1, 32}, Launch{9, 32}, Launch{4, 128}}) {
      INFO(describe(257, launch, kind));
      check_launch(make_readings(kind, 257), launch, {3'000'000'000u, 6000});
    }
  }
}

TEST_CASE("lost_update: no reading gets lost when many threads raise the peak at once") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 50;  // a lost update may not show at once
  const std::size_t n = course::kBigSize;
  const auto exact = static_cast<unsigned>((n + 255) / 256);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {Kind::falling, Kind::random, Kind::peak_first}) {
      INFO(describe(n, {exact, 256}, kind));
      check_launch(make_readings(kind, n), {exact, 256}, {0, INT_MIN});
    }
  }
}

TEST_CASE("lost_update: no reading gets lost when the lanes of a warp go in step") {
  for (const Kind kind : kKinds) {
    INFO(describe(257, {3, 96}, kind));
    course::count([&] { check_launch(make_readings(kind, 257), {3, 96}, {0, -5000}); });
  }
}

TEST_CASE("lost_update: the threads share the work") {
  course::skip_without_counters();
  const auto counters = course::count([&] {
    check_launch(make_readings(Kind::random, 4096), {32, 128}, {0, INT_MIN});
  });
  INFO(describe(4096, {32, 128}, Kind::random));
  REQUIRE(shared_by_warps(counters->global_loads, 4096));
  REQUIRE(course::work_is_shared(*counters, 16));  // one turn of a loop is enough for each warp
}
