// The grids of this chapter: one thread per element, or as many blocks as the GPU runs at once.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 256;

/// Blocks of kBlockSize threads that give each of n elements a thread of its own. n == 0 gives 0:
/// course::launch() does nothing then.
inline unsigned blocks_for(std::size_t n) { return course::blocks_for(n, kBlockSize); }
