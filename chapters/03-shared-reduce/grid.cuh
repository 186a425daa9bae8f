// The grids of this chapter: a block for every piece of the input, or as many as run at once.
#pragma once

#include <course/error.cuh>
#include <cstddef>

/// Threads of a block. A power of two: the tree halves it down to 1.
constexpr unsigned kBlockSize = 256;

/// Blocks that give each of n elements a place, if a block takes `per_block`. n == 0 gives 0, which
/// is no legal grid: launchers return before.
inline unsigned blocks_for(std::size_t n, std::size_t per_block = kBlockSize) {
  return static_cast<unsigned>((n + per_block - 1) / per_block);
}

/// Blocks of `block_size` threads of this kernel that the whole GPU runs at once: more would wait
/// for their turn. Asks the driver, so ask once and keep the answer.
template <class Kernel>
unsigned resident_blocks(Kernel* kernel, unsigned block_size) {
  int device = 0, multiprocessors = 0, per_multiprocessor = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, kernel,
                                                           static_cast<int>(block_size), 0));
  return static_cast<unsigned>(multiprocessors * per_multiprocessor);
}
