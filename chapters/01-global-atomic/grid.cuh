// The grid that every rung of this chapter uses: one thread per element.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 256;

/// The number of blocks of kBlockSize threads for one thread per element, n in all. n == 0 gives 0,
/// which is not a legal grid: launchers return before it.
inline unsigned blocks_for(std::size_t n) { return course::blocks_for(n, kBlockSize); }
