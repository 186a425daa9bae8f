// How many atomics, loads and stores the rungs of this chapter make.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "checks/predicted_launches.cuh"
#include "testing.cuh"

namespace warp_aggregated_testing {

/// Parts of `size` numbers of which something is kept.
std::size_t parts_with_kept(const std::vector<int>& x, std::size_t size) {
  std::size_t parts = 0;
  for (std::size_t first = 0; first < x.size(); first += size) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = x.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, x.size()));
    parts += std::any_of(begin, end, is_kept) ? 1 : 0;
  }
  return parts;
}

}  // namespace warp_aggregated_testing

using namespace warp_aggregated_testing;

TEST_CASE("atomics: one per kept number, per warp, per block, per tile") {
  course::skip_without_counters();
  for (const unsigned percent : kPercents) {
    const std::vector<FilterRung> rungs = percent == 50 ? large_tile_rungs() : append_rungs();
    const std::vector<int> x = filter_input(percent == 50 ? 7000 : 2100, percent);
    const std::size_t kept = filter_reference(x).size();
    for (const FilterRung& rung : rungs) {
      INFO(rung.name << ", n = " << x.size() << ", " << percent << " % kept");
      const auto counters = count_in_order([&] { check_append(rung, x, 0, 0); });
      const bool by_block = rung.name == "filter_block_counter";  // adds 0, too
      const std::size_t atomics = rung.tile == 1 ? kept
                                  : by_block     ? (x.size() + kBlockSize - 1) / kBlockSize
                                                 : parts_with_kept(x, rung.tile);
      REQUIRE(course::same(counters->global_atomic_lanes, atomics, "atomics"));
      REQUIRE(course::same(counters->shared_atomic_lanes, by_block ? kept : 0, "shared atomics"));
    }
  }
}

TEST_CASE("atomics: none for two passes, a ticket per tile for the look-back, and one per block") {
  course::skip_without_counters();
  const std::vector<int> x = filter_input(9000, 50);
  const auto two = count_in_order([&] { check_order(ordered_rungs()[0], x, 0, 0); });
  INFO("n = " << x.size() << ", half of them kept, 3 tiles");
  REQUIRE(course::none(two->global_atomic_lanes, "atomics of filter_two_passes"));
  const auto back = count_in_order([&] { check_order(ordered_rungs()[1], x, 0, 0); });
  REQUIRE(course::same(back->global_atomic_lanes, 3, "atomics of filter_look_back"));
  const auto pipelined = count_in_order([&] { check_order(ordered_rungs()[2], x, 0, 0); });
  // Each of 3 blocks gets a ticket that is no tile.
  REQUIRE(course::same(pipelined->global_atomic_lanes, 3 + 3, "atomics of filter_pipelined"));
  REQUIRE(course::none(two->shared_atomics + back->shared_atomics + pipelined->shared_atomics,
                       "shared atomics of all three"));
  // The second pass reads everything again.
  REQUIRE(course::at_least(two->global_load_sectors, 2 * x.size() / 8 + 1,
                           "sectors that filter_two_passes loads"));
  REQUIRE(course::at_most(back->global_load_sectors, 3 * x.size() / 2 / 8 - 1,
                          "sectors that filter_look_back loads"));
  REQUIRE(course::at_most(pipelined->global_load_sectors, 3 * x.size() / 2 / 8 - 1,
                          "sectors that filter_pipelined loads"));
}

TEST_CASE("atomics: one for each different key of a warp, one for the floats of a warp") {
  course::skip_without_counters();
  const std::vector<int> key = random_keys(1000, 5);
  std::size_t different = 0;
  for (std::size_t first = 0; first < key.size(); first += 32) {
    const std::size_t end = std::min(first + 32, key.size());
    different += std::set<int>(key.begin() + static_cast<std::ptrdiff_t>(first),
                               key.begin() + static_cast<std::ptrdiff_t>(end))
                     .size();
  }
  for (const PlacesRung& rung : right_rungs(kPlacesRungs)) {
    INFO(rung.name << ": n = 1000, 5 keys");
    const auto counters = count_in_order([&] { check_places(rung, key, 5); });
    const std::size_t expected = rung.aggregates ? different : key.size();
    REQUIRE(course::same(counters->global_atomic_lanes, expected, "atomics"));
  }
  const std::vector<float> x = course::position_values<float>(1000);
  const auto above = static_cast<std::size_t>(
      std::count_if(x.begin(), x.end(), [](float value) { return value > 1.0f; }));
  const auto d_x = course::DeviceBuffer<float>::from(x);
  for (const FloatRung& rung : kFloatRungs) {
    INFO(rung.name << ": n = 1000, some above 1");
    auto sum = course::DeviceBuffer<float>::zeros(1);
    const auto counters =
        count_in_order([&] { rung.launch(d_x.data(), x.size(), 1.0f, sum.data()); });
    const std::size_t expected = rung.aggregates ? (x.size() + 31) / 32 : above;
    REQUIRE(course::same(counters->global_atomic_lanes, expected, "atomics"));
    const auto none = count_in_order([&] { rung.launch(d_x.data(), x.size(), 2.0f, sum.data()); });
    REQUIRE(course::same(none->global_atomic_lanes, 0, "atomics, where all are below the limit"));
  }
}

TEST_CASE("staging where all is kept: 16 bytes per lane, and the bank conflicts of the page") {
  course::skip_without_counters();
  const std::vector<int> x = filter_input(2 * kTileItems<4>, 100);
  const std::size_t requests = x.size() / kPack / 32;  // of 32 lanes with 16 bytes each
  INFO("n = " << x.size() << ", all kept");
  const FilterRung rungs[] = {{"", "", launch_filter_tile_direct<4>, kTileItems<4>},
                              {"", "", launch_filter_tile_staged<4>, kTileItems<4>}};
  const auto direct = count_in_order([&] { check_append(rungs[0], x, 0, 0, 0); });
  const auto staged = count_in_order([&] { check_append(rungs[1], x, 0, 0, 0); });
  const auto back = count_in_order([&] { check_order(ordered_rungs()[1], x, 0, 0); });
  const auto pipelined = count_in_order([&] { check_order(ordered_rungs()[2], x, 0, 0); });
  REQUIRE(course::same(direct->global_stores, 4 * requests, "stores of filter_tile_direct"));
  REQUIRE(course::same(staged->global_stores, requests, "stores of filter_tile_staged"));
  REQUIRE(course::same(staged->global_loads, requests, "loads of filter_tile_staged"));
  const auto conflicts = [](std::uint64_t wavefronts, std::uint64_t accesses) {
    return wavefronts - accesses;
  };
  REQUIRE(course::none(conflicts(staged->shared_store_wavefronts, staged->shared_stores),
                       "bank conflicts of stores, filter_tile_staged"));
  // Lanes 0, 8, 16 and 24 write to the same bank: each of the four stores of a pack takes 4 wavefronts.
  const std::uint64_t in_order = 3 * kPack * requests;
  REQUIRE(course::same(conflicts(back->shared_store_wavefronts, back->shared_stores), in_order,
                       "bank conflicts of stores, filter_look_back"));
  REQUIRE(course::same(conflicts(pipelined->shared_store_wavefronts, pipelined->shared_stores),
                       in_order, "bank conflicts of stores, filter_pipelined"));
  // The loads have none: words of 8 bytes take two wavefronts, but filter_tile_direct has these, too.
  REQUIRE(course::same(back->bank_conflicts(), direct->bank_conflicts() + in_order,
                       "all bank conflicts of filter_look_back"));
}

TEST_CASE("atomics: what the input of predict_atomics says, the CPU device counts") {
  course::skip_without_counters();
  for (const prediction_checks::Launch& launch : prediction_checks::kLaunches) {
    INFO(launch.text);
    const prediction_checks::Counts found = prediction_checks::counts_of(launch),
                                    expected = launch.expected();
    REQUIRE(course::same(found.requests, expected.requests, "requests"));
    REQUIRE(course::same(found.atomics, expected.atomics, "atomics"));
  }
}
