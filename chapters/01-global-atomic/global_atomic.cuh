// Many threads, one result: why `+=` loses updates, and the atomic addition that does not.
// Rungs: sum_reference, sum_racy (wrong on purpose), sum_global_atomic, count_above.
// Run them: ladder.cu. Proved right, or proved wrong, at many sizes: selfcheck.cu.
#pragma once

#include <course/buffer.cuh>
#include <course/error.cuh>
#include <cstddef>
#include <vector>

#include "grid.cuh"

/// Rung 0. Double has 29 bits more than float, so this sum is exact enough to judge float sums by.
inline double sum_reference(const std::vector<float>& x) {
  double sum = 0.0;
  for (const float value : x) sum += value;
  return sum;
}

/// Rung 0 of the counting rung: integers, so the two must agree exactly.
inline int count_above_reference(const std::vector<float>& x, float threshold) {
  int count = 0;
  for (const float value : x) count += value > threshold ? 1 : 0;
  return count;
}

// Question: can all threads simply add to one address?
// Changes:  no loop; thread i takes x[i], and all threads share d_y[0].
// Cost:     one load, one addition and one store per element, and most additions are lost.
__global__ void sum_racy(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_y[0] += d_x[i];  // wrong on purpose: a load, then a store
}

/// Adds the wrong amount to *d_y.
inline void launch_sum_racy(const float* d_x, std::size_t n, float* d_y) {
  if (n == 0) return;  // a grid of no blocks is a launch error
  sum_racy<<<blocks_for(n), kBlockSize>>>(d_x, n, d_y);
  CUDA_CHECK_LAUNCH();
}

// Question: what makes the shared addition right?
// Changes:  `+=` becomes atomicAdd: load, addition and store are one indivisible step.
// Cost:     one atomic per element, all on one address, where they queue.
__global__ void sum_global_atomic(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(d_y, d_x[i]);
}

/// Adds x[0] + ... + x[n-1] to *d_y. The caller initialises *d_y: a thread of the kernel that did it
/// could not tell the other blocks when it is done.
inline void launch_sum_global_atomic(const float* d_x, std::size_t n, float* d_y) {
  if (n == 0) return;
  sum_global_atomic<<<blocks_for(n), kBlockSize>>>(d_x, n, d_y);
  CUDA_CHECK_LAUNCH();
}

/// Host wrapper: the sum of n floats in device memory, as an ordinary function call. It has the
/// kernel's name; the parameters tell the two apart.
inline float sum_global_atomic(const float* d_x, std::size_t n) {
  float h_y[1] = {0.0f};  // one float on the stack: fine to copy from and to
  course::DeviceBuffer<float> y(1);
  CUDA_CHECK(cudaMemcpy(y.data(), h_y, sizeof h_y, cudaMemcpyHostToDevice));  // before the launch
  launch_sum_global_atomic(d_x, n, y.data());
  CUDA_CHECK(
      cudaMemcpy(h_y, y.data(), sizeof h_y, cudaMemcpyDeviceToHost));  // waits for the kernel
  return h_y[0];
}

// Question: do integers need anything else?
// Changes:  the address holds an int, and only threads with a hit touch it.
// Cost:     one atomic per hit. Integer addition has no rounding: every order gives the same count.
__global__ void count_above(const float* d_x, std::size_t n, float threshold, int* d_count) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n && d_x[i] > threshold) atomicAdd(d_count, 1);
}

/// Adds the number of elements above the threshold to *d_count.
inline void launch_count_above(const float* d_x, std::size_t n, float threshold, int* d_count) {
  if (n == 0) return;
  count_above<<<blocks_for(n), kBlockSize>>>(d_x, n, threshold, d_count);
  CUDA_CHECK_LAUNCH();
}
