// How many blocks? One for each part of the work (chapter 01, 01-global-atomic), or as many as are
// resident at the same time (chapter 03, 03-shared-reduce: grid-stride loops).
//
// Example (common/tests/examples_test.cu):
//
//   const std::size_t n = 1000;
//   const unsigned one_thread_per_element = course::blocks_for(n, 256);  // 4
//   const unsigned for_a_grid_stride_loop = course::resident_blocks(scale, 256);
#pragma once

#include <course/error.cuh>

#include <cstddef>

namespace course {

/// Blocks for n elements, if a block takes `per_block` of them; the last one may get fewer. n == 0
/// gives 0, which is no legal grid: launchers return before.
constexpr unsigned blocks_for(std::size_t n, std::size_t per_block) {
  return static_cast<unsigned>((n + per_block - 1) / per_block);
}

/// Blocks of `block_size` threads that hold as many threads as the device does, whatever the
/// kernel. Asks the driver, so a launcher keeps the answer. Throws CudaError.
inline unsigned filling_blocks(unsigned block_size) {
  int device = 0, multiprocessors = 0, threads = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
  return static_cast<unsigned>(multiprocessors) * (static_cast<unsigned>(threads) / block_size);
}

/// True if a block of this device can have so many bytes of shared memory. Throws CudaError.
inline bool allows_shared_bytes(std::size_t bytes) {
  int device = 0, most = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  return bytes <= static_cast<std::size_t>(most);
}

/// Blocks of `block_size` threads of this kernel that are resident at the same time: those that fit
/// on one SM (streaming multiprocessor), times the number of SMs; this ratio of threads to the most
/// that an SM can hold is the kernel's occupancy. Each block has `shared_bytes` of dynamic shared
/// memory, for which the kernel's limit is raised. Asks the driver, so a launcher keeps
/// the answer. Throws CudaError.
template <class Kernel>
unsigned resident_blocks(Kernel* kernel, unsigned block_size, std::size_t shared_bytes = 0) {
  int device = 0, multiprocessors = 0, blocks = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  if (shared_bytes > 0) {  // with the kernel's variables it may be more than 48 KiB
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes)));
  }
  CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, kernel, static_cast<int>(block_size), shared_bytes));
  const int resident = blocks * multiprocessors;
  return resident > 0 ? static_cast<unsigned>(resident) : 1;
}

}  // namespace course
