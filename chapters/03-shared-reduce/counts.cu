// What the lesson counts is counted here: atomics, barriers, loads and bank conflicts.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rungs.cuh"
#include "text_like.cuh"

namespace {

/// What is counted when a rung sums n elements.
course::Counters counted(const SumRung<float>& rung, std::size_t n) {
  SumInput<float> input(course::position_values<float>(n));
  return *course::count([&] { input.launch(rung); });
}

}  // namespace

TEST_CASE("atomics: one per block, and none with a second kernel") {
  course::skip_without_counters();
  constexpr unsigned kResident = 4 * 2048 / kBlockSize;  // of the CPU device: 4 SMs, 2048 threads
  for (const std::size_t n : {std::size_t{1}, std::size_t{1025}, course::kBigSize}) {
    for (const SumRung<float>& rung : sum_rungs<float>()) {
      INFO(rung.name << ", n = " << n);
      const course::Counters c = counted(rung, n);
      const std::uint64_t blocks = rung.blocks(n);
      REQUIRE((!rung.resident || blocks == std::min(blocks_for(n, rung.tile), kResident)));
      REQUIRE(c.launches == rung.launches);
      REQUIRE(c.blocks == blocks + rung.launches - 1);
      REQUIRE(c.global_atomic_lanes == rung.atomics * blocks);
      REQUIRE(c.shared_atomic_lanes == (rung.shared_atomics ? n : 0));
    }
  }
}

TEST_CASE("barriers: eight a tree of 256, and two more to tell a block that it is last") {
  course::skip_without_counters();
  constexpr std::uint64_t kTree = 8;  // 2^8 threads
  const std::size_t n = course::kBigSize;
  for (const SumRung<float>& rung : sum_rungs<float>()) {
    INFO(rung.name << ", n = " << n);
    std::uint64_t expected = rung.barriers * rung.blocks(n) + kTree * (rung.launches - 1);
    if (rung.name == "sum_last_block") expected += kTree;  // the last block's second tree
    REQUIRE(course::same(counted(rung, n).barriers, expected, "barriers"));
  }
}

TEST_CASE("the steps of a tree: loads from shared memory, their wavefronts, barriers") {
  course::skip_without_counters();
  for (const TreeRung<float>& rung : tree_rungs<float>()) {
    const std::size_t n = 3 * rung.tile;  // three full blocks
    INFO(rung.name << ", n = " << n);
    SumInput<float> input(course::position_values<float>(n));
    float* const d_sums = input.workspace.parts.data();
    const auto c = course::count([&] {
      rung.launch({3, kBlockSize}, input.d_x.data(), n, d_sums);
    });
    CHECK(course::same(c->shared_loads, 3 * rung.loads, "loads from shared memory"));
    CHECK(course::same(c->shared_load_wavefronts, 3 * rung.wavefronts, "their wavefronts"));
    CHECK(course::same(c->barriers, 3 * rung.barriers, "barriers"));
    CHECK(course::same(c->warp_barriers, 3 * rung.warp_barriers, "warp barriers"));
  }
}

TEST_CASE("every element is loaded once, by warps that read 32 neighbours") {
  course::skip_without_counters();
  const std::size_t n = 8 * kTile;
  for (const std::string name : {"sum_shared_tree", "sum_grid_stride", "sum_loads_in_flight"}) {
    INFO(name << ", n = " << n);
    const course::Counters c = counted(course::rung_named(sum_rungs<float>(), name), n);
    REQUIRE(c.global_loads == n / 32);
    REQUIRE(c.global_load_sectors == 4 * c.global_loads);
    REQUIRE(c.bank_conflicts() == 0);
  }
}

TEST_CASE("a private histogram issues one global atomic per bin that its block used") {
  course::skip_without_counters();
  const std::size_t n = 3 * kHistogramBlock * kBytesPerThread;  // three blocks
  const std::vector<unsigned char> bytes = text_like_bytes(n);
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(bytes);
  const std::vector<unsigned> expected = histogram_reference(bytes);
  const auto used = static_cast<std::uint64_t>(
      std::count_if(expected.begin(), expected.end(), [](unsigned bin) { return bin > 0; }));
  course::DeviceBuffer<unsigned> bins(kBins);
  for (const HistogramRung& rung : histogram_rungs()) {
    INFO(rung.name << ", n = " << n << " bytes, " << used << " different ones");
    const auto c = course::count([&] { rung.launch(d_bytes.data(), n, bins.data()); });
    REQUIRE(course::same(bins.download(), expected, "bins"));
    if (!rung.is_private) {
      REQUIRE(c->global_atomic_lanes == n);
      REQUIRE(c->shared_atomic_lanes == 0);
      continue;
    }
    REQUIRE(c->shared_atomic_lanes == n);
    REQUIRE(c->global_atomic_lanes <= 3 * used);
    REQUIRE(c->global_atomic_lanes > 2 * used);  // rare bytes may be missing in a block
    REQUIRE(c->bank_conflicts() == 0);           // of loads and stores: clearing and merging
  }
}

TEST_CASE(
    "a histogram loads one byte at a time, or four, and counts in one copy of the bins, or one per lane") {
  course::skip_without_counters();
  const std::size_t n = kHistogramBlock * kBytesPerThread;
  const auto d_bytes = course::DeviceBuffer<unsigned char>::from(text_like_bytes(n));
  course::DeviceBuffer<unsigned> bins(kBins);
  for (const HistogramRung& rung : every_histogram()) {
    INFO(rung.name << ", n = " << n << " bytes");
    const auto c = course::count([&] { rung.launch(d_bytes.data(), n, bins.data()); });
    REQUIRE(course::same(c->global_loads, n / 32 / rung.load_bytes, "loads"));
    if (!rung.is_private) continue;
    REQUIRE(course::same(c->shared_atomic_lanes, n, "shared atomics"));
    // With a copy for each lane no two lanes meet; with one they do, six spaces in a warp of text.
    REQUIRE((c->shared_atomic_addresses == c->shared_atomic_lanes) == rung.copies);
  }
}
