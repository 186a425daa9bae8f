// The grids of this chapter: one thread per element, or as many blocks as are resident on the GPU.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 256;

/// The number of blocks of kBlockSize threads for one thread per element, n in all. n == 0 gives 0,
/// for which course::launch does nothing.
inline unsigned blocks_for(std::size_t n) { return course::blocks_for(n, kBlockSize); }
