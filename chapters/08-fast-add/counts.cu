// What the rungs of this chapter count: atomics per update, per pair, per warp.
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "testing.cuh"

using namespace fast_add_testing;

TEST_CASE("scatter_privatized makes one atomic per pair of targets and block, not one per value") {
  course::skip_without_counters();
  constexpr std::size_t kUpdatesHere = 3 * kBlockSize * kUpdates, kTargets = 17;
  INFO("n = " << kUpdatesHere << " into " << kTargets << " targets, 3 blocks");
  const auto count = [&](const char* name) {
    const ScatterRung rung = rung_named(scatter_rungs(), name);
    return course::count([&] { check_scatter(rung, kUpdatesHere, kTargets); });
  };
  const auto fast = count("scatter_fast"), privatized = count("scatter_privatized");
  REQUIRE(fast->global_atomic_lanes == kUpdatesHere);
  REQUIRE(privatized->global_atomic_lanes == 3 * (kTargets / 2 + 1));  // three blocks
  REQUIRE(privatized->shared_atomic_lanes == kUpdatesHere);
}

TEST_CASE("a warp of both alignments makes two atomics by branch, and one by select") {
  course::skip_without_counters();
  constexpr std::size_t n = 1024, kTargets = 2 * n;
  for (const Alignment alignment :
       {Alignment::low, Alignment::high, Alignment::by_warp, Alignment::by_turns}) {
    std::vector<int> index(n);
    for (std::size_t i = 0; i < n; ++i) {
      index[i] = static_cast<int>(2 * (mixed(i) % n)) + half_of(alignment, i);
    }
    const auto d_index = course::DeviceBuffer<int>::from(index);
    const auto d_values = course::DeviceBuffer<__half>::from(coin_flips<__half>(n));
    auto table = course::DeviceBuffer<__half>::zeros(kTargets);
    const auto count = [&](Scatter<__half> launch) {
      return course::count(
          [&] { launch(d_values.data(), d_index.data(), n, table.data(), kTargets, nullptr); });
    };
    const auto branch = count(launch_add_by_branch), select = count(launch_add_by_select);
    const std::uint64_t warps = n / 32;
    const std::string halves = alignment == Alignment::low       ? "the lower ones"
                               : alignment == Alignment::high    ? "the upper ones"
                               : alignment == Alignment::by_warp ? "the same of a warp"
                                                                 : "both, alternately";
    INFO("n = " << n << ", halves of pairs: " << halves);
    REQUIRE(course::same(branch->global_atomics,
                         alignment == Alignment::by_turns ? 2 * warps : warps,
                         "requests of add_by_branch"));
    REQUIRE(course::same(select->global_atomics, warps, "requests of add_by_select"));
  }
}

TEST_CASE("rows: one atomic per half, one per pair, and none on the table") {
  course::skip_without_counters();
  constexpr RowsShape kShape{32, 64, 200};
  const auto count = [&](const char* name) {
    const RowsRung rung = rung_named(rows_rungs(), name);
    return course::count([&] { check_rows(rung, kShape); });
  };
  const auto half = count("rows_half"), fast = count("rows_fast"), half2 = count("rows_half2"),
             red_v4 = count("rows_red_v4"), sort = count("rows_sorted"),
             floats = count("rows_float");
  INFO(kShape.rows << " rows of 64 columns");
  REQUIRE(half->global_atomic_lanes == kShape.rows * 64);
  REQUIRE(fast->global_atomic_lanes == kShape.rows * 64);
  REQUIRE(fast->global_atomics == kShape.rows * 2);            // a warp's 32 columns: one request
  REQUIRE(fast->global_atomic_addresses == kShape.rows * 32);  // two lanes to a word
  REQUIRE(half2->global_atomic_lanes == kShape.rows * 32);
  REQUIRE(red_v4->global_loads < half2->global_loads);  // 16 bytes per load
  REQUIRE(floats->global_atomic_lanes == kShape.rows * 16);
  REQUIRE(sort->global_atomic_lanes <= 2 * 2);  // counts and cursors of the two bins
}

TEST_CASE("a maximum by RED is one request of a warp of both alignments, and loads no element") {
  course::skip_without_counters();
  constexpr std::size_t n = 1024, kTargets = 64;
  const auto d_index = course::DeviceBuffer<int>::from(random_index(n, kTargets));
  const auto d_values = course::DeviceBuffer<__half>::from(gradients(n));
  for (const ScatterRung& rung : of_group(max_rungs(), Group::maxima)) {
    INFO(rung.name << ", n = " << n << " into " << kTargets << " targets");
    course::DeviceBuffer<__half> table(kTargets);
    table.fill_bytes(0xFF);
    const auto run = [&] {
      std::get<Scatter<__half>>(rung.launch)(d_values.data(), d_index.data(), n, table.data(),
                                             kTargets, nullptr);
    };
    const auto first = course::count(run), second = course::count(run);
    const bool looks = rung.name != "scatter_max_fast";
    REQUIRE(first->global_loads == (looks ? 3 : 2) * n / 32);  // value, index, and the look
    if (!looks) REQUIRE(first->global_atomics == n / 32);
    REQUIRE(second->global_atomic_lanes == (looks ? 0 : n));  // nothing is left to raise
  }
}
