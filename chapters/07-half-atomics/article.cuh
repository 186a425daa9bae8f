// The article's benchmark: the dot product of two arrays of 0.1, one atomic per thread, one address.
// Rungs: dot_each (its kernel 0), dot_pack (its kernel 1), dot_padded (its kernel 2's core),
// dot_two_lanes.
// All addends are equal, so the order cannot matter: stagnation.cuh says each result, bit by bit.
#pragma once

#include <cuda_fp16.h>

#include <course/pack.cuh>
#include <cstddef>

#include "add_half2.cuh"
#include "grid.cuh"
#include "pack.cuh"
#include "stagnation.cuh"

constexpr std::size_t kArticleN = std::size_t{32} << 20;
constexpr float kArticleValue = 0.1f;  // of all elements

/// Rung 0: n products of two halves, exactly.
inline double article_reference(std::size_t n) {
  const double value = static_cast<double>(static_cast<float>(__half(kArticleValue)));
  return static_cast<double>(n) * value * value;
}

/// The product as a half: 1310 / 2^17 = 0.0099945.
inline __half article_product() {
  const float value = static_cast<float>(__half(kArticleValue));
  return __half(value * value);
}

// Question: what does one atomic per thread give, and cost?
// Changes:  the article's kernel 0: atomicAdd(__half*). With T = double the sum is exact.
// Cost:     n iterations of a compare-and-swap loop on one word; the sum stagnates at 32.
template <class T>
__global__ void dot_each(const T* d_a, const T* d_b, std::size_t n, T* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(d_y, d_a[i] * d_b[i]);
}

// Question: what if the result is a pair?
// Changes:  the article's kernel 1: a thread adds two products, and that sum to both halves of the
//           result. As in the article there are n threads, and half of them have nothing to add.
// Cost:     n atomics, but the hardware's own; the neighbour of the result is overwritten.
__global__ void dot_pack(const __half* d_a, const __half* d_b, std::size_t n,
                         course::Pack<__half, 2>* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half sum = __float2half(0.0f);
  for (std::size_t k = 2 * i; k < 2 * i + 2 && k < n; ++k) sum = sum + d_a[k] * d_b[k];
  atomic_add_to_all(d_y, sum);
}

// Question: can the neighbour be left alone?
// Changes:  kernel 0 again, with the hardware's addition: the product and a -0.0 as a pair.
// Cost:     as kernel 1; and as kernel 0 the sum stagnates at 32.
__global__ void dot_padded(const __half* d_a, const __half* d_b, std::size_t n, __half* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) add_to_one_of_pair(d_y, d_a[i] * d_b[i]);
}

// Question: what would packing be, if nothing were wasted?
// Changes:  each half of the pair sums products of its own; the reader adds the two.
// Cost:     n / 2 atomics.
__global__ void dot_two_lanes(const __half* d_a, const __half* d_b, std::size_t n, __half2* d_y) {
  const std::size_t i = 2 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const __half second = i + 1 < n ? d_a[i + 1] * d_b[i + 1] : minus_zero();
  atomicAdd(d_y, __halves2half2(d_a[i] * d_b[i], second));
}
