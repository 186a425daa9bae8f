// What the checks of this chapter ask of a kernel's loads.
#pragma once

#include <course/verdict.cuh>
#include <cstdint>
#include <string>

/// Ok if the loads of n elements can come from warps that read 32 of them with one load.
inline course::Verdict shared_by_warps(std::uint64_t loads, std::uint64_t n,
                                       const std::string& elements) {
  if (loads <= n / 4) return {};
  return {false, "loads: expected at most " + std::to_string(n / 4) +
                     " for the whole grid, found " + std::to_string(loads) + "; a warp reads 32 " +
                     elements + " with one load if its lanes share the work"};
}
