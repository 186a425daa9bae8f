// What the check of half2_axpy asks of accesses to memory.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <course/check.cuh>
#include <cstddef>
#include <cstdint>

#include "checks/axpy.cuh"

namespace axpy {

/// Requests of all warps, and of the busiest one. The halves at either end go alone, each with a
/// request of its own.
struct Most {
  std::uint64_t loads, stores, sectors_of_loads, sectors_of_stores, of_a_warp;
};
constexpr std::uint64_t kEnds = 8;

inline void require_at_most(const course::Counters& c, Most most, const char* hint) {
  constexpr const char* kGaps = "are the lanes of a warp side by side?";
  REQUIRE(course::at_most(c.global_loads, most.loads, "loads of the whole grid", hint));
  REQUIRE(course::at_most(c.global_stores, most.stores, "stores of the whole grid", hint));
  REQUIRE(course::none(c.global_atomics, "atomics", "plain loads and stores will do"));
  REQUIRE(
      course::at_most(c.global_load_sectors, most.sectors_of_loads, "sectors of the loads", kGaps));
  REQUIRE(course::at_most(c.global_store_sectors, most.sectors_of_stores, "sectors of the stores",
                          kGaps));
  REQUIRE(course::work_is_shared(c, most.of_a_warp));
}

/// Requires one access for each pair of halves, and one for a half at either end.
inline void require_pairs(const course::Counters& c, std::size_t n, Starts starts) {
  const std::uint64_t most = n - (n - starts.y % 2) / 2;
  constexpr const char* kPairs = "one for each pair, and one for a half at either end";
  REQUIRE(course::at_most(c.global_load_lanes, 2 * most, "loads of x and y by threads", kPairs));
  REQUIRE(course::at_most(c.global_store_lanes, most, "stores by threads", kPairs));
  REQUIRE(course::at_least(c.global_store_sectors, n / 16, "sectors that are stored",
                           "each half of y is written, also where it stays the same"));
}

}  // namespace axpy
