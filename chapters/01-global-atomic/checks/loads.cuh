// What the checks of this chapter ask of a kernel's loads, and grids that they share.
#pragma once

#include <course/data.cuh>
#include <course/device.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace load_checks {

/// Grids for 1025 elements: those of all checks, and some with blocks that are no whole warps.
inline std::vector<course::LaunchShape> all_grids() {
  std::vector<course::LaunchShape> grids = course::launch_shapes(1025);
  grids.insert(grids.end(), {{300, 1}, {2, 31}, {5, 33}, {1, 50}, {3, 100}, {2, 1000}});
  return grids;
}

/// Many blocks of few warps, and few blocks of many: neither one block nor one warp of a block may do most of the work.
inline constexpr course::LaunchShape kManyWarps[] = {{32, 64}, {2, 1024}};

/// Fewer elements than threads, and than blocks: no thread, warp or block takes all, or what a division leaves. `most` is the
/// limit for loads and stores of the busiest warp.
struct Few {
  std::size_t n;
  course::LaunchShape launch;
  std::uint64_t most;
};
inline constexpr Few kFew[] = {
    {1000, {32, 64}, 125}, {1000, {2, 1024}, 125}, {8191, {8192, 32}, 128}};

/// Ok if the warps read n elements 32 at a time, and no warp does the work of many others. A
/// thread may read the shared result once before each of its atomics, as a compare-and-swap loop or
/// a lock does; but where one lane makes all atomics of a warp, one lane does all of its work.
inline course::Verdict work_is_shared(const course::Counters& counters, std::uint64_t n,
                                      const std::string& elements) {
  const bool by_many_lanes = 2 * counters.global_atomic_lanes >= 3 * counters.global_atomics;
  const std::uint64_t most = n / 4 + (by_many_lanes ? counters.global_atomics : 0);
  const course::Verdict loads =
      course::at_most(counters.global_loads, most, "loads of all warps",
                      "a warp reads 32 " + elements + " with one load if its lanes share the work");
  if (!loads.ok) return loads;
  const std::uint64_t requests = counters.global_loads + counters.global_stores;
  return course::work_is_shared(counters, 8 + 4 * requests / counters.warps);
}

}  // namespace load_checks
