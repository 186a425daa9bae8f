// What the checks of atomic functions compare: threads with a cell each, and blocks that share one.
#pragma once

#include <algorithm>
#include <course/check.cuh>
#include <course/data.cuh>
#include <cstddef>
#include <vector>

#include "chain.cuh"

namespace cell_checks {

/// The part of v that belongs to block b.
template <class T>
std::vector<T> of_block(const std::vector<T>& v, std::size_t b, std::size_t block) {
  const auto begin = static_cast<std::ptrdiff_t>(b * block);
  const auto end = static_cast<std::ptrdiff_t>(std::min(v.size(), (b + 1) * block));
  return {v.begin() + begin, v.begin() + end};
}

/// For one_chain() of the calls from `begin` on of a launch that has n, thread i call i: what the last atomic of a call's thread has
/// found. Nothing where threads have several calls.
template <class T, class Text>
chain_checks::OfCall last_atomics(std::size_t begin, std::size_t n, course::LaunchShape launch,
                                  Text text) {
  if (n > std::size_t{launch.grid} * launch.block) return {};
  return [=](std::size_t i) { return course::last_atomic_of<T>(begin + i, launch.block, text); };
}

/// Cells in global memory and in shared memory, one for each thread, and what the threads returned.
template <class T>
struct OwnCells {
  explicit OwnCells(std::size_t n) : cell(n), shared_cell(n), returned(n), shared_returned(n) {}
  course::DeviceBuffer<T> cell, shared_cell, returned, shared_returned;
};

/// Requires what thread i left and returned, for every i: same(what, found, expected) compares. values[i] came to a cell with
/// old[i].
template <class V, class T, class Same, class Say>
void check_own_cells(const OwnCells<T>& cells, const std::vector<V>& old,
                     const std::vector<V>& values, const std::vector<V>& expected, Same same,
                     Say say) {
  const std::vector<T> left = cells.cell.download(), shared_left = cells.shared_cell.download();
  const std::vector<T> found = cells.returned.download();
  const std::vector<T> shared_found = cells.shared_returned.download();
  const auto is_right = [&](std::size_t i) {
    return same("", left[i], expected[i]).ok && same("", shared_left[i], expected[i]).ok &&
           same("", found[i], old[i]).ok && same("", shared_found[i], old[i]).ok;
  };
  for (std::size_t i = 0; i < old.size(); ++i) {
    INFO(say(i) << (is_right(i) ? "" : course::alike_text(old, values, i, is_right)));
    REQUIRE(same("the cell, in global memory", left[i], expected[i]));
    REQUIRE(same("the cell, in shared memory", shared_left[i], expected[i]));
    REQUIRE(same("returned, from global memory", found[i], old[i]));
    REQUIRE(same("returned, from shared memory", shared_found[i], old[i]));
  }
}

}  // namespace cell_checks
