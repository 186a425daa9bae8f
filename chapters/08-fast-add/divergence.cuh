// What does a warp do whose lanes have both alignments?
// Rungs: add_by_branch, add_by_select: the same additions in PyTorch's form, and with
//        fast_atomic_add. Only the index decides how much the warps diverge.
#pragma once

#include <cuda_fp16.h>

#include <course/launch.cuh>
#include <cstddef>

#include "fast_atomic_add.cuh"
#include "grid.cuh"

/// Which halves of their words the 32 updates of a warp go to.
enum class Alignment {
  low,       // all to the low one
  high,      // all to the high one
  by_warp,   // one warp to low ones, the next to high ones
  by_turns,  // lane by lane: low, high, low, ...
};

/// The half, 0 or 1, that update i goes to.
inline int half_of(Alignment alignment, std::size_t i) {
  switch (alignment) {
    case Alignment::low:
      return 0;
    case Alignment::high:
      return 1;
    case Alignment::by_warp:
      return static_cast<int>(i / 32 % 2);
    case Alignment::by_turns:
      return static_cast<int>(i % 2);
  }
  return 0;
}

/// fast_atomic_add as PyTorch and the article write it: an `if` for either alignment.
template <class T>
__device__ __forceinline__ void fast_atomic_add_branching(T* base, std::size_t index,
                                                          std::size_t length, T value) {
  T* const target = base + index;
  const T nothing = additive_identity<T>();
  if (is_low(target) && index + 1 < length) {
    course::red_add(reinterpret_cast<PairOf<T>*>(target), pair_of(value, nothing));
  } else if (!is_low(target) && index > 0) {
    course::red_add(reinterpret_cast<PairOf<T>*>(target - 1), pair_of(nothing, value));
  } else {
    atomicAdd(target, value);
  }
}

// Question: FastAdd has an `if` for either alignment. What if a warp needs both?
// Changes:  the index is made so that warps diverge, or do not.
// Cost:     one RED per warp, or two one after the other, each with some of the lanes.
__global__ void add_by_branch(const __half* d_values, const int* d_index, std::size_t n,
                              __half* d_table, std::size_t targets) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) {
    fast_atomic_add_branching(d_table, static_cast<std::size_t>(d_index[i]), targets, d_values[i]);
  }
}

/// Adds to d_table[d_index[i]] the values d_values[i], i < n.
inline void launch_add_by_branch(const __half* d_values, const int* d_index, std::size_t n,
                                 __half* d_table, std::size_t targets, cudaStream_t stream) {
  course::launch(add_by_branch, {blocks_for(n), kBlockSize, 0, stream}, d_values, d_index, n,
                 d_table, targets);
}

// Question: must the warp diverge?
// Changes:  every lane selects its word and its pair; then there is one RED for all.
// Cost:     a few selects; one RED per warp, whatever the alignments.
__global__ void add_by_select(const __half* d_values, const int* d_index, std::size_t n,
                              __half* d_table, std::size_t targets) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) fast_atomic_add(d_table, static_cast<std::size_t>(d_index[i]), targets, d_values[i]);
}

/// Adds to d_table[d_index[i]] the values d_values[i], i < n.
inline void launch_add_by_select(const __half* d_values, const int* d_index, std::size_t n,
                                 __half* d_table, std::size_t targets, cudaStream_t stream) {
  course::launch(add_by_select, {blocks_for(n), kBlockSize, 0, stream}, d_values, d_index, n,
                 d_table, targets);
}
