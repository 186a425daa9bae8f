// The grids of this chapter: one thread per element, or as many blocks as the GPU runs at once.
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

/// How many blocks of this kernel the device runs at once: what fits on a multiprocessor, times
/// their number. Asks the driver, so a launcher keeps the answer.
template <class Kernel>
unsigned resident_blocks(Kernel* kernel, unsigned block_size) {
  int device = 0, multiprocessors = 0, blocks = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel,
                                                           static_cast<int>(block_size), 0));
  return static_cast<unsigned>(std::max(1, blocks * multiprocessors));
}
