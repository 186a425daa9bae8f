// Check of the exercise lost_update: the peak at every index, below zero, under every kind of grid
// and limit, and with neighbours that try to raise it at the same time.
#include "lost_update.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <climits>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "checks/loads.cuh"

namespace lost_update_check {

using Launch = course::LaunchShape;

/// Some kinds are used by name: their indices.
enum Kind { rising, falling, frost, random_order, peak_first, peak_last, constant, extreme, close };
const course::DataKind<int> kKinds[] = {
    {"each higher than the one before",
     [](course::Element e) { return static_cast<int>(e.i) - 40; }},
    {"each lower than the one before",
     [](course::Element e) { return 2000 - static_cast<int>(e.i); }},
    {"all below zero", [](course::Element e) { return -1 - e.random; }},
    {"in no order", [](course::Element e) { return e.random - 500; }},
    {"the peak comes first", [](course::Element e) { return e.i == 0 ? 5000 : e.random; }},
    {"the peak comes last", [](course::Element e) { return e.i + 1 == e.n ? 5000 : e.random; }},
    {"all the same", [](course::Element) { return 217; }},
    {"from INT_MIN to INT_MAX",
     [](course::Element e) { return e.i % 3 == 0   ? INT_MIN
                                    : e.i % 3 == 1 ? e.random
                                                   : INT_MAX; }},
    {"just below INT_MAX", [](course::Element e) { return INT_MAX - e.random; }}};

constexpr int kLimit = 300;

struct Summary {
  unsigned alarms;
  int peak;
};

Summary reference(const std::vector<int>& readings, Summary before, int limit) {
  for (const int reading : readings) {
    before.alarms += reading > limit ? 1 : 0;
    before.peak = std::max(before.peak, reading);
  }
  return before;
}

/// Where the right peak comes from, and what that says of a wrong one.
std::string about_peak(const std::vector<int>& readings, int expected, int found) {
  const auto highest = std::find(readings.begin(), readings.end(), expected);
  const std::string right =
      highest == readings.end()
          ? "No reading is higher than what peak held before."
          : "The highest reading is readings[" + std::to_string(highest - readings.begin()) + "].";
  if (found > expected) return right;
  return right + (highest == readings.end()
                      ? " A lower one was stored over it."
                      : "\nNo thread took it into account, or a lower one was stored over it.");
}

/// Launches the kernel on outputs that hold `before`, and checks what they hold then.
void check_launch(const std::vector<int>& values, Launch launch, Summary before, int limit) {
  INFO("peak holds " << before.peak << " before the launch, alarms " << before.alarms);
  const course::Placed<int> readings(values, 1);  // never where four readings could be one load
  course::GuardedBuffer<unsigned> alarms(1);
  course::GuardedBuffer<int> peak(1);
  CUDA_CHECK(cudaMemcpy(alarms.data(), &before.alarms, sizeof(unsigned), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(peak.data(), &before.peak, sizeof(int), cudaMemcpyHostToDevice));
  course::launch(summarize_readings, {launch.grid, launch.block}, readings.data(), values.size(),
                 limit, alarms.data(), peak.data());
  const Summary expected = reference(values, before, limit);
  const int found = peak.download().front();
  REQUIRE(course::same(found, expected.peak, "peak", about_peak(values, expected.peak, found)));
  REQUIRE(course::same(
      alarms.download().front(), expected.alarms, "alarms",
      "readings above the limit: " + std::to_string(expected.alarms - before.alarms) +
          (values.empty() ? ""
                          : " of " + course::elements_text("readings", values, 0, values.size()))));
  REQUIRE(peak.intact("peak"));
  REQUIRE(alarms.intact("alarms"));
}

std::string case_text(std::size_t n, Launch launch, const course::DataKind<int>& kind,
                      int limit = kLimit) {
  return course::case_text(n, kind.text, "summarize_readings", launch) + ", limit " +
         std::to_string(limit);
}

void check_kind(std::size_t n, Launch launch, const course::DataKind<int>& kind, Summary before,
                int limit = kLimit) {
  INFO(case_text(n, launch, kind, limit));
  check_launch(kind.values(n), launch, before, limit);
}

// Promise: *peak becomes the highest reading, if that is higher than what it holds.
// Promise: the caller initialises both outputs, which may hold something.
// Promise: readings may be negative, and are aligned to 4 bytes, no more (MISALIGNED ACCESS in every test case).
TEST_CASE("lost_update: peak and alarms are right at every size") {
  for (const auto& [n, launch, kind] : course::cases_of(course::kSizes, kKinds)) {
    course::in_launch(launch, [n = n, kind = kind](Launch tried) {
      check_kind(n, tried, kind, {7, INT_MIN});
    });
  }
}

// Promise: the kernel is right for every one-dimensional grid, also of blocks that are no whole
// warps.
TEST_CASE("lost_update: peak and alarms are right for every grid") {
  for (const Kind kind : {falling, random_order}) {
    for (const Launch launch : load_checks::all_grids()) {
      course::in_launch(launch, [&](Launch tried) {
        check_kind(1025, tried, kKinds[kind], {0, INT_MIN});
      });
    }
  }
}

// Promise: *peak stays if no reading is higher.
TEST_CASE("lost_update: a peak that is higher than all readings stays") {
  for (const Kind kind : {frost, random_order, constant}) {
    for (const Launch launch : {Launch{1, 32}, Launch{9, 32}, Launch{4, 128}}) {
      check_kind(257, launch, kKinds[kind], {3'000'000'000u, 6000});
    }
  }
}

// Promise: *alarms grows by the number of readings above the limit.
TEST_CASE("lost_update: alarms are the readings above the limit, whatever it is") {
  for (const int limit : {INT_MIN, INT_MIN + 1, -1, 0, 217, INT_MAX - 1, INT_MAX}) {
    for (const course::DataKind<int>& kind : kKinds) {
      check_kind(33, {2, 32}, kind, {0xFFFF'FF00u, INT_MIN}, limit);
    }
  }
}

// Promise: no reading is lost when many threads raise the peak at the same time.
TEST_CASE("lost_update: no reading gets lost when many threads raise the peak at once") {
  // What goes wrong may not show at once. (On a GPU a lock in every thread takes microseconds each.)
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;
  const std::size_t n = course::kCpuDevice ? course::kBigSize : 30'003;
  const auto exact = static_cast<unsigned>((n + 255) / 256);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {falling, random_order, peak_first}) {
      check_kind(n, {exact, 256}, kKinds[kind], {0, INT_MIN});
    }
  }
}

// Promise: a thread counts any number of alarms.
TEST_CASE("lost_update: a thread finds more than 65,535 readings") {
  if (course::has_run_before()) return;
  check_kind(70'000, {1, 1}, kKinds[constant], {0, INT_MIN}, 200);
}

// Promise: no reading is lost when all lanes of a warp read the peak before any of them raises it.
TEST_CASE("lost_update: no reading gets lost when the lanes of a warp go in step") {
  for (const course::DataKind<int>& kind : kKinds) {
    course::count([&] { check_kind(257, {3, 96}, kind, {0, -5000}); });
  }
}

// Promise: the threads share the work.
TEST_CASE("lost_update: the threads share the work") {
  course::skip_without_counters();
  constexpr std::size_t n = 8192;  // few enough for a lock in every thread
  for (const Launch launch : load_checks::kManyWarps) {
    const auto counters = course::count([&] {
      check_kind(n, launch, kKinds[random_order], {0, INT_MIN});
    });
    INFO(case_text(n, launch, kKinds[random_order]));
    REQUIRE(load_checks::work_is_shared(*counters, n, "readings"));
  }
  for (const auto& [few, launch, most] : load_checks::kFew) {
    if (launch.grid > 1000 && course::has_run_before()) continue;  // many blocks take long
    const auto counters = course::count([&, n = few, shape = launch] {
      check_kind(n, shape, kKinds[random_order], {0, INT_MIN});
    });
    INFO(case_text(few, launch, kKinds[random_order]));
    REQUIRE(course::work_is_shared(*counters, most));
  }
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("lost_update: peak and alarms are right in a grid of more than 2^32 threads") {
  course::in_huge_grids(65, [](Launch grid) {
    check_kind(65, grid, kKinds[constant], {0, INT_MIN}, 200);
  });
}

// Promise: n may be more than 2^32 (its first readings).
TEST_CASE("lost_update: the first of more than 2^32 readings") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks");
  std::vector<int> values = kKinds[random_order].values(1000);
  values.resize(course::kFrontItems, INT_MIN);
  const auto readings = course::DeviceBuffer<int>::from(values);
  auto alarms = course::DeviceBuffer<unsigned>::zeros(1);
  auto peak = course::DeviceBuffer<int>::from({INT_MIN});
  INFO(case_text(course::kHugeItems, course::kHugeGrid, kKinds[random_order])
       << ", INT_MIN from readings[1000] on");
  course::at_front_of_huge_grid([&](Launch grid, std::size_t items) {
    course::launch(summarize_readings, {grid.grid, grid.block}, readings.data(), items, kLimit,
                   alarms.data(), peak.data());
    const Summary expected = reference(values, {0, INT_MIN}, kLimit);
    REQUIRE(course::same(alarms.front(), expected.alarms, "alarms"));
    REQUIRE(course::same(peak.front(), expected.peak, "peak"));
  });
}

}  // namespace lost_update_check
