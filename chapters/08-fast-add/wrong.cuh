// Wrong on purpose: additions without atomics, with +0.0 for the neighbour, with a wrong length; a
// maximum with -infinity for the neighbour.
// Rungs: scatter_plain, scatter_plus_zero, scatter_max_infinity, add_with_length.
// The ladder and races.cu prove that each is wrong, and how it shows.
#pragma once

#include <cuda_fp16.h>

#include <course/launch.cuh>
#include <course/ptx.cuh>
#include <cstddef>

#include "fast_atomic_add.cuh"
#include "fast_atomic_max.cuh"
#include "grid.cuh"

// Question: millions of targets, and updates rarely meet. Must additions be atomic?
// Changes:  scatter_half with a plain +=.
// Cost:     a data race. Where two updates do meet, one is lost.
__global__ void scatter_plain(const __half* d_values, const int* d_index, std::size_t n,
                              __half* d_table) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) d_table[d_index[i]] = d_table[d_index[i]] + d_values[i];  // wrong on purpose
}

/// Adds some of the values d_values[i] to d_table[d_index[i]], i < n.
inline void launch_scatter_plain(const __half* d_values, const int* d_index, std::size_t n,
                                 __half* d_table, std::size_t, cudaStream_t stream) {
  course::launch(scatter_plain, {blocks_for(n), kBlockSize, 0, stream}, d_values, d_index, n,
                 d_table);
}

// Question: does adding 0 change nothing?
// Changes:  fast_atomic_add with +0.0 for the partner, as in PyTorch and in the article.
// Cost:     as before; but a partner that is -0.0 becomes +0.0. The two compare equal, but 1 / x
//           changes from -infinity to +infinity.
__global__ void scatter_plus_zero(const __half* d_values, const int* d_index, std::size_t n,
                                  __half* d_table, std::size_t targets) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto at = static_cast<std::size_t>(d_index[i]);
  __half* const target = d_table + at;
  const __half nothing = __ushort_as_half(0x0000);  // wrong on purpose
  if (is_low(target) ? at + 1 < targets : at > 0) {
    course::red_add(reinterpret_cast<__half2*>(is_low(target) ? target : target - 1),
                    is_low(target) ? pair_of(d_values[i], nothing) : pair_of(nothing, d_values[i]));
  } else {
    atomicAdd(target, d_values[i]);
  }
}

/// Adds to d_table[d_index[i]] the values d_values[i], i < n, and +0.0 to their partners.
inline void launch_scatter_plus_zero(const __half* d_values, const int* d_index, std::size_t n,
                                     __half* d_table, std::size_t targets, cudaStream_t stream) {
  course::launch(scatter_plus_zero, {blocks_for(n), kBlockSize, 0, stream}, d_values, d_index, n,
                 d_table, targets);
}

// Question: is -infinity not what no maximum notices?
// Changes:  fast_atomic_max with -infinity for the partner.
// Cost:     as before; and a partner that is a NaN, no value yet, becomes -infinity.
__global__ void scatter_max_infinity(const __half* d_values, const int* d_index, std::size_t n,
                                     __half* d_table, std::size_t targets) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto at = static_cast<std::size_t>(d_index[i]);
  __half* const target = d_table + at;
  const __half nothing = __ushort_as_half(0xFC00);  // wrong on purpose
  if (is_low(target) ? at + 1 < targets : at > 0) {
    course::red_max(reinterpret_cast<__half2*>(is_low(target) ? target : target - 1),
                    is_low(target) ? pair_of(d_values[i], nothing) : pair_of(nothing, d_values[i]));
  } else {
    atomic_max_alone(target, d_values[i]);
  }
}

/// Raises d_table[d_index[i]] to d_values[i], i < n, and the partners to -infinity.
inline void launch_scatter_max_infinity(const __half* d_values, const int* d_index, std::size_t n,
                                        __half* d_table, std::size_t targets, cudaStream_t stream) {
  course::launch(scatter_max_infinity, {blocks_for(n), kBlockSize, 0, stream}, d_values, d_index, n,
                 d_table, targets);
}

// Question: which length does fast_atomic_add want?
// Changes:  n threads add 1 to d_y[0]; the length is what the caller says.
// Cost:     with the length of d_y it is right: 1 takes the scalar path, 2 or more the pair. With
//           n, the number of additions, it reaches past an array of one element.
__global__ void add_with_length(std::size_t n, __half* d_y, std::size_t length) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) fast_atomic_add(d_y, 0, length, __float2half(1.0f));
}
