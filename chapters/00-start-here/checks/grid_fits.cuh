// What the checks of this chapter expect of a launch's grid.
#pragma once

#include <course/device.cuh>
#include <course/grid.cuh>
#include <course/verdict.cuh>
#include <cstddef>
#include <cstdint>
#include <string>

namespace grid_checks {

/// Ok if n elements got one launch, with the blocks that they need, of the size that was asked for.
inline course::Verdict grid_fits(const course::Counters& counters, std::size_t n, unsigned block) {
  const std::uint64_t needed = course::blocks_for(n, block);
  if (counters.launches != 1) {
    return {false, "launches: expected 1, found " + std::to_string(counters.launches)};
  }
  if (counters.blocks == needed && counters.threads == needed * block) return {};
  return {false, "launch: expected <<<" + std::to_string(needed) + ", " + std::to_string(block) +
                     ">>>, found <<<" + std::to_string(counters.blocks) + ", " +
                     std::to_string(counters.threads / counters.blocks) + ">>>"};
}

}  // namespace grid_checks
