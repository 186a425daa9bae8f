// The grids that the rungs of this chapter use.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 256;

/// One thread per element. n == 0 gives 0 blocks, for which course::launch does nothing.
inline unsigned blocks_for(std::size_t n) { return course::blocks_for(n, kBlockSize); }
