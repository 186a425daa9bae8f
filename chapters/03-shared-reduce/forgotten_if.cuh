// The experiment of the article: 1.23 a hundred million times, with and without `if (tid == 0)`.
// Rungs: add_block_sums_reference, add_with_if (wrong in float), add_without_if (wrong on purpose).
// All blocks add the same number: every order takes the same steps, and each result is known to the
// last bit.
#pragma once

#include <course/device.cuh>
#include <cstddef>

#include "shared_tree.cuh"

/// The article's block.
constexpr unsigned kExperimentBlock = 128;
constexpr double kExperimentValue = 1.23;

/// One run: *d_y holds `start`, then `blocks` blocks sum kExperimentBlock times 1.23 each.
template <class T>
struct Experiment {
  T start;
  unsigned blocks;
};

/// A hundred million elements.
template <class T>
inline constexpr Experiment<T> kExperimentFull{T(0), 781'250};

/// Their decisive part, for the CPU device. In float without the `if`: just below 2^32, where the
/// sum will stagnate.
template <class T>
inline constexpr Experiment<T> kExperimentShort{T(0), 4};
template <>
inline constexpr Experiment<float> kExperimentShort<float>{4'294'967'296.0f - 200 * 256.0f, 4};

/// Where float stagnates without the `if`: from 2^32 on neighbours are 512 apart, and a block's
/// sum of 157.44 is less than half of that.
constexpr double kForgottenIfStagnatesAt = 4'294'967'296.0;

/// The sum of one block. Exact in T: doubling a number seven times rounds nothing.
template <class T>
T experiment_block_sum() {
  return static_cast<T>(kExperimentBlock) * static_cast<T>(kExperimentValue);
}

/// What the sum should be.
template <class T>
double add_block_sums_reference(const Experiment<T>& e) {
  return static_cast<double>(e.start) +
         static_cast<double>(e.blocks) * static_cast<double>(experiment_block_sum<T>());
}

/// The same additions as the device's, on one CPU thread: `per_block` atomics per block.
template <class T>
T add_block_sums(const Experiment<T>& e, unsigned per_block) {
  const T addend = experiment_block_sum<T>();
  T sum = e.start;
  for (std::size_t i = 0; i < std::size_t{e.blocks} * per_block; ++i) {
    const T next = sum + addend;
    if (next == sum) break;  // it stagnates: no further addition changes it
    sum = next;
  }
  return sum;
}

// Question: what does `if (threadIdx.x == 0)` protect?
// Changes:  it is missing: all threads add the block's sum, not only one of them.
// Cost:     128 times the atomics, and a sum that is 128 times too large, as far as T can hold it.
template <class T, bool forgotten>
__global__ void add_equal_values(T value, T* d_y) {
  __shared__ T s_y[kExperimentBlock];
  s_y[threadIdx.x] = value;
  tree_sum(s_y);
  __syncthreads();  // only thread 0 may read s_y[0] without it
  if (forgotten || threadIdx.x == 0) atomicAdd(d_y, s_y[0]);
}
