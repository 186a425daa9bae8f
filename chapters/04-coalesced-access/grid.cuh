// The grids of this chapter.
#pragma once

#include <algorithm>
#include <course/error.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 256;

/// Blocks of kBlockSize threads that give each of n pieces of work a thread of its own. n == 0
/// gives 0, which is no legal grid: launchers return before.
inline unsigned blocks_for(std::size_t n) {
  return static_cast<unsigned>((n + kBlockSize - 1) / kBlockSize);
}

/// Blocks that the GPU can hold at once, 2048 threads on each multiprocessor, but no more than n
/// pieces of work need: for kernels whose threads go round in a loop.
inline unsigned resident_blocks_for(std::size_t n) {
  static const unsigned most = [] {  // asked once: a launch must not wait for the driver's answer
    int device = 0;
    int multiprocessors = 0;
    CUDA_CHECK(cudaGetDevice(&device));
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    return static_cast<unsigned>(multiprocessors) * (2048 / kBlockSize);
  }();
  return static_cast<unsigned>(
      std::min<std::size_t>((n + kBlockSize - 1) / kBlockSize, std::size_t{most}));
}
