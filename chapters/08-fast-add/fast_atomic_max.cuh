// FastAdd's trick on another operation: the maximum of one half by the instruction for two. The partner
// gets what changes no maximum, and that is a NaN.
// Device function: fast_atomic_max. Rungs: max_reference, scatter_max_cas, scatter_max_fast,
// scatter_max_looking.
//
//   for i in 0..n-1:  table[index[i]] = max(table[index[i]], values[i])
//
// A NaN is no number: it loses to every number, and an element without any value may hold one.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <course/launch.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "fast_atomic_add.cuh"
#include "grid.cuh"

/// Rung 0: the maxima, and NaN for an element that gets no value. Values are numbers.
template <class T>
std::vector<double> max_reference(const std::vector<T>& values, const std::vector<int>& index,
                                  std::size_t targets) {
  std::vector<double> table(targets, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& element = table[static_cast<std::size_t>(index[i])];
    const double value = static_cast<double>(static_cast<float>(values[i]));
    if (!(element >= value)) element = value;  // true if the element is NaN
  }
  return table;
}

/// The 16 bits of a half or bfloat16, and back.
template <class T>
__device__ __forceinline__ unsigned short to_bits(T x) {
  unsigned short bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
template <class T>
__device__ __forceinline__ T from_bits(unsigned short bits) {
  T x;
  memcpy(static_cast<void*>(&x), &bits, sizeof x);
  return x;
}

/// What leaves every number as it is, and a NaN a NaN. Not -infinity, which replaces a NaN.
template <class T>
__device__ __forceinline__ T maximum_identity() {
  return from_bits<T>(0x7FFF);
}

/// *target = the larger one of *target and value, by compare-and-swap. Maxima only grow: a look that
/// finds enough needs no swap.
template <class T>
__device__ __forceinline__ void atomic_max_alone(T* target, T value) {
  auto* const bits = reinterpret_cast<unsigned short*>(target);
  unsigned short old = *static_cast<volatile unsigned short*>(bits);
  unsigned short assumed;
  do {
    assumed = old;
    const unsigned short next = to_bits(__hmax(from_bits<T>(assumed), value));
    if (next == assumed) return;
    old = atomicCAS(bits, assumed, next);
  } while (old != assumed);
}

/// base[index] = the larger one of base[index] and value, atomically, for __half and __nv_bfloat16.
/// - `length` and `base` are as for fast_atomic_add.
/// - A number replaces a NaN, and a NaN replaces nothing. 0.0 is larger than -0.0.
/// - No other number changes; a partner that is a NaN stays one, perhaps with other bits.
/// One RED from sm_90 on, except for a first or last element without a partner; a compare-and-swap
/// loop before.
template <class T>
__device__ __forceinline__ void fast_atomic_max(T* base, std::size_t index, std::size_t length,
                                                T value) {
  static_assert(kAddsInPairs<T>, "__half or __nv_bfloat16");
  T* const target = base + index;
  const T nothing = maximum_identity<T>();
  const bool low = is_low(target);
  if (low ? index + 1 < length : index > 0) {
    const PairOf<T> pair = pair_of(low ? value : nothing, low ? nothing : value);
    course::red_max(reinterpret_cast<PairOf<T>*>(low ? target : target - 1), pair);
  } else {
    atomic_max_alone(target, value);
  }
}

// Question: what does a maximum cost that every GPU can take?
// Changes:  thread i raises its element by a loop of atomicCAS on 16 bits.
// Cost:     a load; a swap and more turns only where the value is larger than what the load found.
template <class T>
__global__ void scatter_max_cas(const T* d_values, const int* d_index, std::size_t n, T* d_table) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomic_max_alone(d_table + d_index[i], d_values[i]);
}

// Question: does FastAdd's trick work for a maximum?
// Changes:  one RED of a pair, with a NaN for the partner.
// Cost:     one RED per warp, whether a value is larger or not; nothing is loaded from the table.
template <class T>
__global__ void scatter_max_fast(const T* d_values, const int* d_index, std::size_t n, T* d_table,
                                 std::size_t targets) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) fast_atomic_max(d_table, static_cast<std::size_t>(d_index[i]), targets, d_values[i]);
}

// Question: most values raise nothing. Is it cheaper to look first?
// Changes:  a volatile load; the RED only where the value is larger than what the load found. An old
//           value is no harm: elements only grow.
// Cost:     a load for every value, and few REDs.
template <class T>
__global__ void scatter_max_looking(const T* d_values, const int* d_index, std::size_t n,
                                    T* d_table, std::size_t targets) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto at = static_cast<std::size_t>(d_index[i]);
  const T value = d_values[i];
  const unsigned short found = *reinterpret_cast<volatile unsigned short*>(d_table + at);
  if (to_bits(__hmax(from_bits<T>(found), value)) == found) return;
  fast_atomic_max(d_table, at, targets, value);
}

/// Raises d_table[d_index[i]] to d_values[i], i < n. The table has `targets` elements.
template <class T>
void launch_scatter_max_cas(const T* d_values, const int* d_index, std::size_t n, T* d_table,
                            std::size_t, cudaStream_t stream) {
  course::launch(scatter_max_cas<T>, {blocks_for(n), kBlockSize, 0, stream}, d_values, d_index, n,
                 d_table);
}
template <class T>
void launch_scatter_max_fast(const T* d_values, const int* d_index, std::size_t n, T* d_table,
                             std::size_t targets, cudaStream_t stream) {
  course::launch(scatter_max_fast<T>, {blocks_for(n), kBlockSize, 0, stream}, d_values, d_index, n,
                 d_table, targets);
}
template <class T>
void launch_scatter_max_looking(const T* d_values, const int* d_index, std::size_t n, T* d_table,
                                std::size_t targets, cudaStream_t stream) {
  course::launch(scatter_max_looking<T>, {blocks_for(n), kBlockSize, 0, stream}, d_values, d_index,
                 n, d_table, targets);
}
