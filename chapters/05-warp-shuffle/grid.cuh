// The grids of this chapter: one thread per element, or as many blocks as are resident on the GPU.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 256;

/// Blocks of kBlockSize threads that give each of n elements a thread of its own. n == 0 gives 0,
/// for which course::launch does nothing.
inline unsigned blocks_for(std::size_t n) { return course::blocks_for(n, kBlockSize); }
