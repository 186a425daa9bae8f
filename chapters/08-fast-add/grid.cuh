// The grids that the rungs of this chapter use.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

constexpr unsigned kBlockSize = 256;

/// Blocks of kBlockSize threads, one thread for each of n elements. n == 0 gives 0:
/// course::launch() does nothing then.
inline unsigned blocks_for(std::size_t n) { return course::blocks_for(n, kBlockSize); }

/// Threads that an SM holds, for __launch_bounds__: the compiler then keeps to so few
/// registers that all of them can be there. The number depends on the architecture.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000
constexpr unsigned kResidentThreads = 2048;
#elif __CUDA_ARCH__ == 750
constexpr unsigned kResidentThreads = 1024;
#else
constexpr unsigned kResidentThreads = 1536;
#endif
