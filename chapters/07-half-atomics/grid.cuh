// The grid that every rung of this chapter uses: one thread for each piece of the work.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 256;

/// Blocks of kBlockSize threads that give each of n pieces a thread of its own. n == 0 gives 0,
/// for which course::launch does nothing.
inline unsigned blocks_for(std::size_t n) { return course::blocks_for(n, kBlockSize); }
