// Where an array may be divided: the checks put a flag, or the end of a run, at each of these places.
#pragma once

#include <cstddef>
#include <set>

namespace scan_checks {

/// Places from 1 to n - 1 at which a part may begin: a warp's, a tile's of 256 elements and the place before each, and
/// one of up to 10 equal parts.
inline std::set<std::size_t> part_ends(std::size_t n) {
  std::set<std::size_t> places = {1, 31, 32};
  for (std::size_t begin = 256; begin < n; begin += 256) places.insert({begin - 1, begin});
  for (std::size_t parts = 2; parts <= 10; ++parts) {
    const std::size_t size = (n + parts - 1) / parts;
    for (std::size_t begin = size; begin < n; begin += size) places.insert(begin);
  }
  return places;
}

}  // namespace scan_checks
