// What the tests of this chapter share: small tiles, and checks of a filter, of places, of counts.
#pragma once

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "inputs.cuh"
#include "rungs.cuh"

namespace warp_aggregated_testing {

/// What the kernels of `work` did, if lanes that come together stay together: other seeds split
/// them here and there, as a GPU may, and a split group makes two atomics for one.
inline std::optional<course::Counters> count_in_order(const std::function<void()>& work) {
  std::optional<course::Counters> counters;
  course::with_seed(0, [&] { counters = course::count(work); });
  return counters;
}

/// The rungs that append, in any order; their tiles are small here, so that small arrays have
/// several.
inline std::vector<FilterRung> append_rungs() {
  std::vector<FilterRung> rungs = right_rungs(filter_rungs());
  std::erase_if(rungs, [](const FilterRung& rung) {
    return rung.in_order || rung.tile > kBlockSize;  // these follow
  });
  rungs.push_back({"filter_tile_direct<1>", "", launch_filter_tile_direct<1>, kTileItems<1>});
  rungs.push_back({"filter_tile_staged<1>", "", launch_filter_tile_staged<1>, kTileItems<1>});
  rungs.push_back({"filter_tile_staged<2>", "", launch_filter_tile_staged<2>, kTileItems<2>});
  return rungs;
}

/// The rungs that append, with tiles as large as in the ladder.
inline std::vector<FilterRung> large_tile_rungs() {
  const std::vector<FilterRung> rungs = filter_rungs();
  return {rung_named(rungs, "filter_tile_direct"), rung_named(rungs, "filter_tile_staged")};
}

/// The rungs that keep the order, with small tiles and a memory that no launch has used.
inline std::vector<FilterRung> ordered_rungs() {
  return {{"filter_two_passes<4>", "", two_passes<4>(), kTileItems<4>, true},
          {"filter_look_back<4>", "", looks_back<4>(), kTileItems<4>, true},
          {"filter_pipelined<4>", "", pipelined<4>(), kTileItems<4>, true}};
}

constexpr unsigned kPercents[] = {0, 5, 50, 100};

inline std::string describe(const std::string& rung, std::size_t n, const std::string& data,
                            std::size_t offset_x, std::size_t offset_out) {
  return rung + ": n = " + std::to_string(n) + ", " + data + "; x begins " +
         std::to_string(offset_x) + " and out " + std::to_string(offset_out) +
         " elements after a multiple of 64 bytes";
}

/// Appends x to an output that holds some numbers already and has room for what is kept, no more.
inline void check_append(const FilterRung& rung, const std::vector<int>& x, std::size_t offset_x,
                         std::size_t offset_out, std::size_t already = 3) {
  std::vector<int> expected = filter_reference(x);
  const std::vector<int> before(already, -77);
  const course::Placed<int> d_x(x, offset_x);
  course::Placed<int> out(std::vector<int>(already + expected.size(), -1), offset_out);
  out.upload(before);
  auto count = course::DeviceBuffer<Count>::from({already});
  rung.launch(d_x.data(), x.size(), out.data(), count.data());
  REQUIRE(course::same(count.front(), already + expected.size(), "count"));
  std::vector<int> found = out.download();
  REQUIRE(std::equal(before.begin(), before.end(), found.begin()));
  found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(already));
  REQUIRE(course::same_set(found, expected, "out"));
  REQUIRE(out.intact("out"));
}

inline void check_order(const FilterRung& rung, const std::vector<int>& x, std::size_t offset_x,
                        std::size_t offset_out) {
  const std::vector<int> expected = filter_reference(x);
  const course::Placed<int> d_x(x, offset_x);
  course::Placed<int> out(std::vector<int>(expected.size(), -1), offset_out);
  auto count = course::DeviceBuffer<Count>::from({99});  // it is set, not added to
  rung.launch(d_x.data(), x.size(), out.data(), count.data());
  REQUIRE(course::same(count.front(), expected.size(), "count"));
  REQUIRE(course::same(out.download(), expected, "out"));
  REQUIRE(out.intact("out"));
}

inline void check_places(const PlacesRung& rung, const std::vector<int>& key, std::size_t keys) {
  std::vector<Count> first(keys);
  for (std::size_t k = 0; k < keys; ++k) first[k] = (Count{k} << 33) + 10 * k;  // 64 bits
  std::vector<Count> counts = count_keys(key, keys);
  for (std::size_t k = 0; k < keys; ++k) counts[k] += first[k];
  const auto d_key = course::DeviceBuffer<int>::from(key);
  course::Placed<Count> d_counts(first, 1);
  course::GuardedBuffer<Count> places(key.size());
  rung.launch(d_key.data(), key.size(), d_counts.data(), places.data());
  REQUIRE(course::same(d_counts.download(), counts, "counts"));
  REQUIRE(places_are_right(places.download(), key, first));
  REQUIRE(d_counts.intact("counts"));
  REQUIRE(places.intact("places"));
}

}  // namespace warp_aggregated_testing
