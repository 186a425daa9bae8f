// The grids that the rungs of this chapter use.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 256;

/// The number of blocks of kBlockSize threads for one thread per element, n in all. n == 0 gives 0,
/// which is not a legal grid: launchers return before it.
inline unsigned blocks_for(std::size_t n) { return course::blocks_for(n, kBlockSize); }

/// Blocks for a grid-stride loop: as many threads as the GPU holds, but no more than n.
inline unsigned resident_blocks_for(std::size_t n) {
  return course::filling_blocks_for<kBlockSize>(n);
}
