// The grid of this chapter's kernels with one thread per element.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 256;

/// Blocks of kBlockSize threads, one thread for each of n elements. n == 0 gives 0:
/// course::launch() does nothing then.
inline unsigned blocks_for(std::size_t n) { return course::blocks_for(n, kBlockSize); }
