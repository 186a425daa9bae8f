// The same work three times: y[i] = x[i] + 1, by one thread, by one block, by a grid.
// Rungs: add_one_reference, add_one_one_thread, add_one_one_block, add_one_grid.
// Run them: ladder.cu. Proved right at every awkward size: selfcheck.cu.
#pragma once

#include <course/error.cuh>
#include <course/grid.cuh>
#include <cstddef>
#include <vector>

constexpr unsigned kBlockSize = 256;

/// Rung 0: the same on the host.
inline std::vector<float> add_one_reference(std::vector<float> x) {
  for (float& value : x) value += 1.0f;
  return x;
}

// Question: what is a kernel?
// Changes:  the loop of the host, in a function that the device runs.
// Cost:     one load after another: a thread of a GPU is slower than a core of a CPU.
__global__ void add_one_one_thread(const float* d_x, std::size_t n, float* d_y) {
  for (std::size_t i = 0; i < n; ++i) d_y[i] = d_x[i] + 1.0f;
}

/// Sets y[i] to x[i] + 1, i = 0..n-1, for n floats in device memory. Throws CudaError.
inline void launch_add_one_one_thread(const float* d_x, std::size_t n, float* d_y) {
  if (n == 0) return;
  add_one_one_thread<<<1, 1>>>(d_x, n, d_y);
  CUDA_CHECK_LAUNCH();
}

// Question: how do threads share the work?
// Changes:  256 threads; thread t takes the elements t, t + 256, t + 512, ...
// Cost:     8 warps that load 32 neighbours with one instruction, on one of the GPU's many
//           streaming multiprocessors (SMs).
__global__ void add_one_one_block(const float* d_x, std::size_t n, float* d_y) {
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) d_y[i] = d_x[i] + 1.0f;
}

/// The same as launch_add_one_one_thread.
inline void launch_add_one_one_block(const float* d_x, std::size_t n, float* d_y) {
  if (n == 0) return;
  add_one_one_block<<<1, kBlockSize>>>(d_x, n, d_y);
  CUDA_CHECK_LAUNCH();
}

// Question: what does a wider grid gain?
// Changes:  a thread for each element, in as many blocks as that takes; the loop is gone.
// Cost:     the memory traffic of 2n floats, and one launch, as above.
__global__ void add_one_grid(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_y[i] = d_x[i] + 1.0f;  // the last block has threads left over
}

/// The same as launch_add_one_one_thread.
inline void launch_add_one_grid(const float* d_x, std::size_t n, float* d_y) {
  if (n == 0) return;  // a grid of no blocks is a launch error
  add_one_grid<<<course::blocks_for(n, kBlockSize), kBlockSize>>>(d_x, n, d_y);
  CUDA_CHECK_LAUNCH();
}
