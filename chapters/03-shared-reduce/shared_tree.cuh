// The threads of a block sum their elements in shared memory, before any of them writes to global
// memory.
// Rungs: sum_reference, sum_on_host, sum_plus_equals and sum_without_barriers (wrong on purpose),
// sum_shared_tree. T is float or double.
// rungs.cuh has the launches.
#pragma once

#include <course/error.cuh>
#include <course/launch.cuh>
#include <cstddef>
#include <numeric>
#include <vector>

#include "grid.cuh"
#include "workspace.cuh"

/// Rung 0: one CPU thread, in double.
template <class T>
double sum_reference(const std::vector<T>& x) {
  double sum = 0.0;
  for (const T value : x) sum += static_cast<double>(value);
  return sum;
}

/// Sums s_y[0..blockDim.x-1] in shared memory: thread 0 finds the sum in s_y[0].
/// All threads of the block call this, each after writing its own s_y[threadIdx.x]; blockDim.x is a
/// power of two. Each level adds the upper half to the lower half, so log2(blockDim.x) levels do.
template <class T>
__device__ void tree_sum(T* s_y) {
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    // This level reads what other threads wrote on the level before. The barrier is outside the
    // `if`: all threads of the block must arrive, those without work, too.
    __syncthreads();
    if (threadIdx.x < half) s_y[threadIdx.x] += s_y[threadIdx.x + half];
  }
}

// Question: how far does a launch get if no two blocks use the same address?
// Changes:  the threads of a block use shared memory; the host adds the sums of the blocks.
// Cost:     n loads; 8 barriers and one store per block; a copy, and n / 256 additions on the host.
template <class T>
__global__ void block_sums(const T* d_x, std::size_t n, T* d_sums) {
  __shared__ T s_y[kBlockSize];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  // Threads past the end store 0 and stay: the tree reads the elements of all threads.
  s_y[threadIdx.x] = i < n ? d_x[i] : T(0);
  tree_sum(s_y);
  if (threadIdx.x == 0) d_sums[blockIdx.x] = s_y[0];
}

/// The sum of x[0..n-1]. Waits for the kernel; the host adds the sums of the blocks.
template <class T>
T sum_on_host(const T* d_x, std::size_t n, Workspace<T>& workspace) {
  if (n == 0) return T(0);
  std::vector<T> h_sums(blocks_for(n));
  T* const d_sums = workspace.parts.data();
  course::launch(block_sums<T>, {blocks_for(n), kBlockSize}, d_x, n, d_sums);
  CUDA_CHECK(cudaMemcpy(h_sums.data(), d_sums, h_sums.size() * sizeof(T), cudaMemcpyDeviceToHost));
  return std::accumulate(h_sums.begin(), h_sums.end(), T(0));
}

// Question: can the blocks add to one address, if each does it only once?
// Changes:  the last line: thread 0 of every block adds to d_y[0], with +=.
// Cost:     a wrong sum: the threads 0 of different blocks overwrite each other.
template <class T>
__global__ void sum_plus_equals(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_y[kBlockSize];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  s_y[threadIdx.x] = i < n ? d_x[i] : T(0);
  tree_sum(s_y);
  if (threadIdx.x == 0) d_y[0] += s_y[0];  // wrong on purpose: every block has a thread 0
}

// Question: what sums the blocks without the host?
// Changes:  the last line again: one atomicAdd per block, 256 times fewer than one per element.
// Cost:     n loads, 8 barriers and one atomic per block; d_y has to be 0 before the kernel starts.
template <class T>
__global__ void sum_shared_tree(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_y[kBlockSize];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  s_y[threadIdx.x] = i < n ? d_x[i] : T(0);
  tree_sum(s_y);
  if (threadIdx.x == 0) atomicAdd(d_y, s_y[0]);  // without the `if`: forgotten_if.cuh
}

// Question: what are the barriers for?
// Changes:  they are gone.
// Cost:     a wrong sum, whenever a warp reads what another warp has not written yet.
template <class T>
__global__ void sum_without_barriers(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_y[kBlockSize];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  s_y[threadIdx.x] = i < n ? d_x[i] : T(0);
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) s_y[threadIdx.x] += s_y[threadIdx.x + half];  // wrong on purpose
  }
  if (threadIdx.x == 0) atomicAdd(d_y, s_y[0]);
}
