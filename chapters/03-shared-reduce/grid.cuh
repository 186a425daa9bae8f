// The grids of this chapter: a block for every piece of the input, or as many as are resident.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

/// Threads of a block. A power of two: the tree halves it down to 1.
constexpr unsigned kBlockSize = 256;

/// The number of blocks for n elements, if a block takes `per_block`. n == 0 gives 0, which is not
/// a legal grid: launchers return before it.
inline unsigned blocks_for(std::size_t n, std::size_t per_block = kBlockSize) {
  return course::blocks_for(n, per_block);
}
