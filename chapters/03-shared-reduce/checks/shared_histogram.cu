// Check of the exercise shared_histogram: bins that count past 65535, neighbours in one word, every
// kind of grid, and how often global memory is asked.
#include "shared_histogram.cuh"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace shared_histogram_check {

using Launch = course::LaunchShape;

// ---- samples, and the right counts --------------------------------------------------------------

constexpr unsigned kSampleLevels = 16384;  // values of a sample that is not broken

constexpr std::size_t kGivenBytes = 32'768;  // of dynamic shared memory: the check's own number
using Samples = std::vector<unsigned short>;

unsigned short sample(unsigned level) { return static_cast<unsigned short>(level); }

/// Some kinds are used by name: their indices.
enum Kind { mixed, few, broken, highest, neighbours };
const course::DataKind<unsigned short> kKinds[] = {
    {"all levels",
     [](course::Element e) {
       return sample((e.random * 7919u + static_cast<unsigned>(e.i) * 31) % kSampleLevels);
     }},
    {"a few levels, each many times",
     [](course::Element e) { return sample(5000u + e.random % 7); }},
    {"one in three is broken, from 16384 to 65535",
     [](course::Element e) {
       const unsigned r = e.random;
       return sample(r % 3 == 0   ? kSampleLevels + r * 49 % (65536 - kSampleLevels)
                     : r % 3 == 1 ? 65535 - r % 2
                                  : r * 16);
     }},
    {"the levels 0, 1, 16382, 16383, and the broken 16384",
     [](course::Element e) {
       constexpr unsigned kHighest[] = {0, 1, 16382, 16383, 16384};
       return sample(kHighest[e.random % 5]);
     }},
    {"levels that share a word, one far more often than the other", [](course::Element e) {
       return sample(8000u + (e.random % 40 == 0 ? 1 : 0) + 2 * (e.random % 2));
     }}};

std::vector<unsigned> reference(const Samples& samples, std::vector<unsigned> bins) {
  for (const unsigned v : samples) {
    if (v < kSampleLevels) ++bins[v];
  }
  return bins;
}

/// Bins that hold something already, different in each.
std::vector<unsigned> earlier_counts() {
  std::vector<unsigned> bins(kSampleLevels);
  for (unsigned v = 0; v < kSampleLevels; ++v) bins[v] = v % 1000 * 70'000;
  return bins;
}

// ---- launches -----------------------------------------------------------------------------------

std::string case_text(std::size_t n, const std::string& text, Launch launch) {
  return course::case_text(n, text, "shared_histogram", launch, kGivenBytes);
}

/// Launches the kernel on bins that hold `before`, and checks what they hold then.
void check_launch(const course::DeviceBuffer<unsigned short>& samples,
                  const std::vector<unsigned>& expected, Launch launch,
                  const std::vector<unsigned>& before) {
  course::GuardedBuffer<unsigned> bins(kSampleLevels);
  CUDA_CHECK(cudaMemcpy(bins.data(), before.data(), bins.bytes(), cudaMemcpyHostToDevice));
  course::launch(shared_histogram, {launch.grid, launch.block, kGivenBytes}, samples.data(),
                 samples.size(), bins.data());
  const auto inputs = [&](std::size_t v) {
    return course::number_text(before[v]) + " before the launch and " +
           course::number_text(expected[v] - before[v]) + " of the samples";
  };
  REQUIRE(course::same(bins.download(), expected, "bins", inputs));
  REQUIRE(bins.intact("bins"));
}

const std::vector<unsigned> kEmptyBins(kSampleLevels, 0);

void check_launch(const Samples& samples, Launch launch,
                  const std::vector<unsigned>& before = kEmptyBins) {
  check_launch(course::DeviceBuffer<unsigned short>::from(samples), reference(samples, before),
               launch, before);
}

void check_kind(unsigned kind, std::size_t n, Launch launch) {
  INFO(case_text(n, kKinds[kind].text, launch));
  check_launch(kKinds[kind].values(n), launch);
}

// Promise: the kernel adds to bins[v] how many samples are v.
// Promise: samples of 16384 and more are not counted.
// Promise: n may be 0.
// Promise: the kernel is right for every one-dimensional grid with blocks of 32 to 1024 threads, a
// multiple of 32.
// Promise: kSharedBytes, 32 KiB, of dynamic shared memory are enough (OUT OF BOUNDS in every test case).
TEST_CASE("shared_histogram counts every sample at every size") {
  constexpr Launch kLaunches[] = {{1, 1024}, {2, 256}, {1, 96}, {3, 512}, {1, 32}, {2, 1024}};
  std::size_t turn = 0;  // another launch each time
  for (const std::size_t n : course::kSizes) {
    for (const unsigned kind : {0u + mixed, static_cast<unsigned>(1 + turn % 4)}) {
      course::in_launch(kLaunches[turn++ % std::size(kLaunches)],
                        [&](Launch launch) { check_kind(kind, n, launch); });
    }
  }
}

// Promise: the kernel adds: bins may hold the counts of other samples already.
TEST_CASE("shared_histogram adds to what the bins hold") {
  for (const Launch launch : {Launch{1, 512}, Launch{2, 512}}) {
    for (const course::DataKind<unsigned short>& kind : kKinds) {
      INFO(case_text(1025, kind.text, launch) << ", bins that hold counts already");
      check_launch(kind.values(1025), launch, earlier_counts());
    }
  }
}

// Promise: the kernel is right if one block counts a value more than 65535 times.
TEST_CASE("shared_histogram counts past 65535 in one bin of one block") {
  struct Example {
    std::size_t n;
    unsigned level;
    Launch launch;
  };
  // 65536 is a multiple of 64 and of 1024, but not of 992: one round too many shows in each.
  const Example examples[] = {
      {65'536, 3, {1, 64}}, {66'000, 16'383, {1, 992}}, {131'080, 100, {2, 1024}}};
  for (const auto& [n, level, launch] : examples) {
    INFO(case_text(n, "all are " + std::to_string(level), launch));
    check_launch(Samples(n, static_cast<unsigned short>(level)), launch);
  }
}

// Promise: both bins of a word may count past 65535.
TEST_CASE("shared_histogram counts past 65535 in both bins of a word") {
  const std::size_t n = 150'000;  // both are met 72,222 times
  Samples samples(n, 501);
  for (std::size_t i = 0; i < n; i += 2) samples[i] = 500;
  for (std::size_t i = 0; i < n; i += 27) samples[i] = static_cast<unsigned short>(i % 20'000);
  const Launch launch{1, 1024};
  INFO(case_text(n, "the levels 500 and 501 in turn, and a few others", launch));
  check_launch(samples, launch);
}

// Promise: a bin that passes 65535 takes no count from the other one of its word, not even for a moment.
TEST_CASE("shared_histogram: the two bins of a word pass 65535 at the same time") {
  Samples samples(131'072, 0);
  for (std::size_t i = 1; i < samples.size(); i += 2) samples[i] = 1;
  // In step: the last two lanes of the last warp add number 65536 to each before either looks at what it has found. More
  // warps would take minutes with a loop of atomicCAS(), of whose lanes one at a time goes on.
  const Launch launch{1, 64};
  INFO(case_text(samples.size(), "the levels 0 and 1 in turn", launch));
  course::count([&] { check_launch(samples, launch); });
}

// Promise: two warps may bring the two bins of a word from 65535 to 65536 at the same time.
TEST_CASE("shared_histogram: two warps fill the two bins of a word at the same time") {
  if (course::has_run_before()) return;
  constexpr unsigned short kBroken = 0xFFFF;
  for (const unsigned first : {0u, 1u}) {  // the level of the first warp
    Samples samples(2049 * 64);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::size_t round = i / 64, lane = i % 32;
      const bool is_counted = round < 2047 || (lane == 31) == (round == 2048);
      samples[i] = static_cast<unsigned short>(is_counted ? (i / 32 + first) % 2 : kBroken);
    }
    INFO(case_text(samples.size(), "65536 times each of the levels 0 and 1", {1, 64}));
    // In step: the last samples of both warps come together.
    course::count([&] { check_launch(samples, {1, 64}); });
  }
}

// Promise: a bin that is full keeps its count while the other one of its word overflows.
TEST_CASE("shared_histogram: a bin counts past 65535 while the other one of its word holds 65535") {
  for (const unsigned full : {500u, 501u}) {
    const unsigned other = 1001 - full;
    Samples samples(65'535, static_cast<unsigned short>(full));
    samples.resize(131'071, static_cast<unsigned short>(other));
    INFO(case_text(
        samples.size(),
        "65535 times " + std::to_string(full) + ", then 65536 times " + std::to_string(other),
        {1, 32}));
    check_launch(samples, {1, 32});
  }
}

// Promise: the grid is of any size.
TEST_CASE("shared_histogram: more than 65,535 threads") {
  if (course::has_run_before()) return;
  check_kind(mixed, 66'000, {66, 1024});
}

// Promise: a grid may have more than 2^32 threads.
TEST_CASE("shared_histogram: more than 2^32 threads") {
  if (!course::kCpuDevice) SKIP("takes long: each of 2^27 blocks clears 32 KiB");
  if (course::has_run_before()) return;
  course::in_huge_grids(65, [](Launch grid) { check_kind(few, 65, grid); });
}

// Promise: n may be more than 2^32 (its first samples; on a GPU all of them).
TEST_CASE("shared_histogram: the first of more than 2^32 samples") {
  if (!course::kCpuDevice)
    SKIP("a GPU runs all blocks, and counts all samples in another test case");
  if (course::has_run_before()) return;
  Samples samples = kKinds[mixed].values(1000);
  samples.resize(course::kFrontItems, 0xFFFF);
  const auto d_samples = course::DeviceBuffer<unsigned short>::from(samples);
  auto bins = course::DeviceBuffer<unsigned>::zeros(kSampleLevels);
  INFO(case_text(course::kHugeItems, kKinds[mixed].text + ", all broken from samples[1000] on",
                 course::kHugeGrid));
  course::at_front_of_huge_grid([&](Launch grid, std::size_t items) {
    course::launch(shared_histogram, {grid.grid, grid.block, kGivenBytes}, d_samples.data(), items,
                   bins.data());
    REQUIRE(course::same(bins.download(), reference(samples, kEmptyBins), "bins"));
  });
}

// Promise: no sample is lost when many threads count at the same time (DATA RACE).
TEST_CASE("shared_histogram: many samples") {
  constexpr int kRepeats = course::kCpuDevice ? 1 : 20;  // a missing barrier may not show at once
  const std::size_t n = course::kBigSize;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (const Kind kind : {mixed, few, neighbours}) {
      check_kind(kind, n, {3, 768});
    }
  }
}

// Promise: n may be more than 2^32 (GPU only).
TEST_CASE("shared_histogram: more samples than 32 bits can number") {
  const std::size_t n = (std::size_t{1} << 32) + 77;
  course::skip_without_memory(n * sizeof(unsigned short));
  course::DeviceBuffer<unsigned short> samples(n);
  samples.fill_bytes(0xFF);  // broken, and not counted
  const Samples tail(77, 42);
  CUDA_CHECK(cudaMemcpy(samples.data() + n - tail.size(), tail.data(),
                        tail.size() * sizeof(unsigned short), cudaMemcpyHostToDevice));
  INFO(case_text(n, "all broken but the last 77", {528, 1024}));
  check_launch(samples, reference(tail, kEmptyBins), {528, 1024}, kEmptyBins);
}

// Promise: if n is at most 32768, each block adds to each bin at most once, and not at all to a
// bin in which it has counted nothing.
// Promise: all threads of the grid share the work: loading, clearing pairs, and adding them to the
// bins (the busiest warp of global and of shared memory).
TEST_CASE("shared_histogram: at most one global atomic for each bin that a block has met") {
  course::skip_without_counters();
  for (const Kind kind : {mixed, few, broken, neighbours}) {
    for (const Launch launch : {Launch{1, 512}, Launch{5, 128}}) {
      if (kind != mixed && (kind == neighbours) == (launch.grid == 5)) continue;
      const std::size_t n = 4096;
      INFO(case_text(n, kKinds[kind].text, launch));
      const Samples samples = kKinds[kind].values(n);
      std::set<unsigned> met;
      for (const unsigned v : samples) {
        if (v < kSampleLevels) met.insert(v);
      }
      const auto c = course::count([&] { check_launch(samples, launch); });
      REQUIRE(course::at_most(
          c->global_atomic_lanes, launch.grid * met.size(), "atomics on global memory",
          "the counting belongs into shared memory, and empty bins are not added"));
      REQUIRE(course::at_most(c->global_loads, n / 4, "loads by the warps of the whole grid",
                              "a warp reads 32 samples with one load if its lanes share the work"));
      const std::uint64_t rounds = n / (launch.grid * launch.block) + 1;  // samples of a thread
      REQUIRE(course::work_is_shared(*c, 3 * rounds));
      REQUIRE(
          course::at_most(c->shared_loads + c->shared_stores, launch.grid * kSampleLevels / 8,
                          "loads and stores of shared memory by the warps of the whole grid",
                          "a warp clears or reads 32 pairs at once if its lanes share the work"));
      if (kind != mixed) continue;  // a compare-and-swap may take many turns in the others
      // No warp makes more than one and a half times its share, and some for the last round.
      const std::uint64_t all = c->shared_loads + c->shared_stores + c->shared_atomics;
      REQUIRE(course::shared_work_is_shared(*c, 16 + 3 * all / (2 * c->warps)));
    }
  }
}

// Promise: a block empties its bins once, also where one thread has counted many of them.
TEST_CASE("shared_histogram: one emptying is enough for 32768 samples") {
  course::skip_without_counters();
  const std::size_t n = 32'768;
  for (const unsigned block : {32u, 96u, 992u}) {  // a thread has 1024 of them, 342, or 34
    const Launch launch{1, block};
    INFO(case_text(n, "all are 77", launch));
    const auto c = course::count([&] { check_launch(Samples(n, 77), launch); });
    REQUIRE(course::at_most(
        c->global_atomic_lanes, 1, "atomics on global memory",
        "a bin of 16 bits need not be emptied before it has counted 65535 samples"));
  }
}

}  // namespace shared_histogram_check
