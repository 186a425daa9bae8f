// Check of the exercise degree_histogram: every degree, bins that hold something, every kind of
// grid and block, and how many atomics reach global memory.
#include "degree_histogram.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace degree_histogram_check {

using Launch = course::LaunchShape;

/// How many elements atoms_with has. The check's own number: the answer may change its kDegrees.
constexpr unsigned kElements = 12;

// An element's random number is from 1 to 1000.
const course::DataKind<int> kMixed = {"all degrees from 0 to 25",
                                      [](auto e) { return e.random % 26; }};
const course::DataKind<int> kSheet = {"nearly all have three", [](course::Element e) {
                                        return e.random % 50 < 48 ? 3 : e.random % 3;
                                      }};
const course::DataKind<int> kNone = {"no atom has a neighbour", [](auto) { return 0; }};
const course::DataKind<int> kMany = {
    "up to 2^31 - 1 neighbours, also multiples of 2^8, powers of 2, and a few more", [](auto e) {
      const int few = e.random % 13, power = 1 << (4 + e.i / 4 * 11 % 27);
      const int more[] = {2'147'483'647 - few, 256 * (1 + e.random % 200) + few, power + few, few};
      return more[e.i % 4];
    }};
using Kind = const course::DataKind<int>*;
constexpr Kind kKinds[] = {&kMixed, &kSheet, &kNone, &kMany};

/// Launches the kernel on bins that hold 100, 101, ..., and checks all of them.
void check(const std::vector<int>& h_counts, Launch launch, Kind kind, int launches = 1) {
  INFO(course::counted(h_counts.size(), "atom")
       << ", " << kind->text << "; " << course::launch_text("degree_histogram", launch)
       << (launches == 2 ? ", twice" : "")
       << course::too_few_threads(launch, h_counts.size(), "atoms")
       << "; atoms_with[k] holds 100 + k before");
  std::vector<unsigned> expected(kElements);
  for (unsigned k = 0; k < kElements; ++k) expected[k] = 100 + k;
  course::GuardedBuffer<unsigned> bins(kElements);
  CUDA_CHECK(cudaMemcpy(bins.data(), expected.data(), bins.bytes(), cudaMemcpyHostToDevice));
  for (const int count : h_counts) {
    expected[static_cast<std::size_t>(std::min(count, 11))] += static_cast<unsigned>(launches);
  }
  // counts begin 4 bytes past a multiple of 64: an int may be anywhere.
  const course::Placed<int> counts(h_counts, 1);
  unsigned* const atoms_with = bins.data();
  for (int k = 0; k < launches; ++k) {
    course::launch(degree_histogram, {launch.grid, launch.block}, counts.data(), h_counts.size(),
                   atoms_with);
  }
  REQUIRE(course::same(bins.download(), expected, "atoms_with"));
  REQUIRE(bins.intact("atoms_with"));
}

// Promise: atoms_with[k] grows by the number of atoms with k neighbours, for k from 0 to 10, and
// atoms_with[11] by those with 11 or more, up to 2^31 - 1.
TEST_CASE("degree_histogram: right at every size") {
  for (const auto& [n, launch, kind] : course::cases_of(course::kSizes, kKinds)) {
    course::in_launch(launch,
                      [n = n, kind = kind](Launch tried) { check(kind->values(n), tried, kind); });
  }
}

// Promise: the kernel is right for every one-dimensional grid.
TEST_CASE("degree_histogram: right for every grid") {
  const std::vector<int> counts = kMixed.values(1025);
  for (const Launch launch : course::launch_shapes(counts.size())) {
    course::in_launch(launch, [&](Launch tried) { check(counts, tried, &kMixed); });
  }
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("degree_histogram: right in a grid of more than 2^32 threads") {
  course::in_huge_grids(65,
                        [](course::LaunchShape grid) { check(kMixed.values(65), grid, &kMixed); });
}

// Promise: n is any number that fits in std::size_t (its first atoms; on a GPU all of them).
TEST_CASE("degree_histogram: the first of more than 2^32 atoms") {
  if (!course::kCpuDevice) SKIP("a GPU runs all blocks, and counts all atoms in another test case");
  std::vector<int> h_counts = kMixed.values(1000);
  h_counts.resize(course::kFrontItems, 0);
  std::vector<unsigned> expected(kElements);
  for (const int count : h_counts) ++expected[static_cast<std::size_t>(std::min(count, 11))];
  const auto counts = course::DeviceBuffer<int>::from(h_counts);
  auto bins = course::DeviceBuffer<unsigned>::zeros(kElements);
  unsigned* const atoms_with = bins.data();
  INFO(course::counted(course::kHugeItems, "atom")
       << ", of the first 1000 " << kMixed.text << ", the others have none; "
       << course::launch_text("degree_histogram", course::kHugeGrid)
       << "; atoms_with[0] is not looked at, because most blocks do not run");
  course::at_front_of_huge_grid([&](Launch grid, std::size_t items) {
    course::launch(degree_histogram, {grid.grid, grid.block}, counts.data(), items, atoms_with);
    std::vector<unsigned> found = bins.download();
    found[0] = expected[0];
    REQUIRE(course::same(found, expected, "atoms_with"));
  });
}

// Promise: blocks have any size from 1 to 1024 threads.
TEST_CASE("degree_histogram: right for blocks of any size") {
  for (const unsigned block : {1u, 5u, 11u, 12u, 13u, 33u, 100u, 1000u}) {
    for (const Kind kind : {&kMixed, &kMany}) {
      check(kind->values(257), {3, block}, kind);
    }
  }
}

// Promise: atoms_with may hold counts already, which stay counted.
TEST_CASE("degree_histogram: a second launch adds to the first one's") {
  check(kMixed.values(300), {4, 96}, &kMixed, 2);
}

// Promise: no atom gets lost if many threads count at the same time (DATA RACE).
TEST_CASE("degree_histogram: many atoms") {
  for (const Kind kind : {&kMixed, &kSheet}) {
    check(kind->values(course::kBigSize), {16, 256}, kind);
  }
}

// Promise: a block may count more than 2^16 atoms of one degree.
TEST_CASE("degree_histogram: more than 2^16 atoms of a block have the same degree") {
  check(kNone.values(65'536 + 1000), {1, 1024}, &kNone);
}

// Promise: a thread or a warp may count more than 2^16 atoms of one degree.
TEST_CASE("degree_histogram: a thread, or a warp, counts more than 2^16 equal values") {
  check(kNone.values(700), {1, 1}, &kNone);
  check(kNone.values(65'536 + 1000), {1, 1}, &kNone);
  check(kNone.values(65'536 + 1000), {1, 32}, &kNone);
}

// Promise: n is any number that fits in std::size_t (GPU only).
TEST_CASE("degree_histogram: more than 2^31 atoms") {
  constexpr std::size_t kAtoms = (std::size_t{1} << 31) + 1000;
  course::skip_without_memory(kAtoms * sizeof(int));
  const auto counts = course::DeviceBuffer<int>::zeros(kAtoms);
  auto bins = course::DeviceBuffer<unsigned>::zeros(kElements);
  unsigned* const atoms_with = bins.data();
  course::launch(degree_histogram, {1000, 1024}, counts.data(), kAtoms, atoms_with);
  std::vector<unsigned> expected(kElements);
  expected[0] = static_cast<unsigned>(kAtoms);
  REQUIRE(course::same(bins.download(), expected, "atoms_with"));
}

// Promise: a block makes at most one atomic on each of the 12 elements of
// atoms_with, and no plain store.
// Promise: the threads share the work.
TEST_CASE("degree_histogram: at most one atomic per block and bin in global memory") {
  course::skip_without_counters();
  for (const Kind kind : {&kMixed, &kSheet}) {
    const Launch launch{4, 128};
    const auto counters = course::count([&] { check(kind->values(2048), launch, kind); });
    INFO("2048 atoms, " << kind->text << "; degree_histogram<<<4, 128>>>");
    REQUIRE(
        course::at_most(counters->global_atomic_lanes, 4 * kElements, "atomics on global memory"));
    REQUIRE(course::none(counters->global_stores, "plain stores to global memory"));
    // 4 requests for the counts of each of 16 warps, and as many each time that a chain of ifs names them.
    REQUIRE(course::at_most(counters->global_loads, 14 * 64, "loads of global memory by a warp",
                            "each element that the source names counts, also in an `if`"));
    REQUIRE(course::work_is_shared(*counters, counters->global_loads * 3 / 32));
  }
}

// Promise: the threads share the work, also if there are fewer atoms than blocks.
TEST_CASE("degree_histogram: fewer atoms than blocks") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr Launch kLaunch{4096, 32};
  constexpr std::size_t n = 4095;
  const auto counters = course::count([&] { check(kMixed.values(n), kLaunch, &kMixed); });
  INFO(n << " atoms, " << kMixed.text << "; degree_histogram<<<4096, 32>>>");
  REQUIRE(course::work_is_shared(*counters, 64));
}

// Promise: a block makes at most one atomic on each of the 12 elements of atoms_with, however many atoms it counts.
TEST_CASE("degree_histogram: at most one atomic, where each thread counts thousands of atoms") {
  course::skip_without_counters();
  if (course::has_run_before()) return;
  constexpr std::size_t n = 2 * 32 * 5000;
  const auto counters = course::count([] { check(kMixed.values(n), {2, 32}, &kMixed); });
  INFO(n << " atoms, " << kMixed.text << "; degree_histogram<<<2, 32>>>");
  REQUIRE(
      course::at_most(counters->global_atomic_lanes, 2 * kElements, "atomics on global memory"));
}

}  // namespace degree_histogram_check
