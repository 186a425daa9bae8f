// The grid that the rungs of this chapter use: one thread per atom, or per cell.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 128;

/// Blocks of kBlockSize threads that give each of n atoms a thread of its own. n == 0 gives 0,
/// which is no legal grid: launchers return before.
inline unsigned blocks_for(std::size_t n) { return course::blocks_for(n, kBlockSize); }
