// The grids that the rungs of this chapter use.
#pragma once

#include <algorithm>
#include <course/error.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 256;

/// Blocks of kBlockSize threads that give each of n elements a thread of its own. n == 0 gives 0,
/// which is no legal grid: launchers return before.
inline unsigned blocks_for(std::size_t n) {
  return static_cast<unsigned>((n + kBlockSize - 1) / kBlockSize);
}

/// Blocks for a grid-stride loop: no more than run at the same time on all multiprocessors (2048
/// threads each), and no more than there are elements for.
inline unsigned resident_blocks_for(std::size_t n) {
  static const unsigned most = [] {
    int device = 0, multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(multiprocessors) * (2048 / kBlockSize);
  }();
  return static_cast<unsigned>(std::min<std::size_t>(most, (n + kBlockSize - 1) / kBlockSize));
}
