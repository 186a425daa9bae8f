// What becomes of a sum whose every step is rounded to 16 bits? Where all addends are equal, every
// order takes the same steps, and the CPU can say the result of a million threads bit by bit.
// Rungs: add_ones; alternate<Way> (a sum that never stagnates).
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <type_traits>

#include "add_half2.cuh"
#include "cas16.cuh"
#include "grid.cuh"

/// a + b, rounded once to T, as atomicAdd does it. Float has more than twice the bits of the
/// 16-bit types, so rounding its sum once more is the same as rounding the exact one.
template <class T>
T rounded_sum(T a, T b) {
  if constexpr (std::is_same_v<T, double>) {
    return a + b;
  } else {
    return T(static_cast<float>(a) + static_cast<float>(b));
  }
}

/// Where a sum of equal addends gets.
template <class T>
struct Steps {
  T sum;
  std::size_t moved;  // how many additions changed it
};

/// `start` + `value` + `value` + ..., `count` times, each sum rounded to T.
template <class T>
Steps<T> add_in_steps(T start, T value, std::size_t count) {
  Steps<T> steps{start, 0};
  for (; steps.moved < count; ++steps.moved) {
    const T next = rounded_sum(steps.sum, value);
    if (static_cast<double>(next) == static_cast<double>(steps.sum)) break;  // it stays for ever
    steps.sum = next;
  }
  return steps;
}

// Question: how far can a counter of 16 bits count?
// Changes:  nothing but the type T; every thread adds 1 to one number.
// Cost:     n atomics on one address, and from 2^11 = 2048 (half) or 2^8 = 256 (bfloat16) on
//           neighbouring numbers are 2 apart: + 1 is rounded away.
template <class T>
__global__ void add_ones(std::size_t n, T* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(d_y, static_cast<T>(1.0f));
}

/// Three ways to add to one half.
enum class Way { atomic_add, cas, padded_pair };

// Question: what does the loop inside atomicAdd(__half*) cost as long as the sum changes?
// Changes:  every second thread subtracts 1: the sum changes with each addition, and never
//           stagnates. (A sum that stagnates is the loop's best case: what it swaps in is what was
//           there, so no other thread's guess becomes wrong.)
// Cost:     the loops: one success per round trip, all others try again. The pair: n atomics.
template <Way way>
__global__ void alternate(std::size_t n, __half* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half step = __float2half(i % 2 == 0 ? 1.0f : -1.0f);
  if constexpr (way == Way::atomic_add) atomicAdd(d_y, step);
  if constexpr (way == Way::cas) atomic_update_half(d_y, [=](__half old) { return old + step; });
  if constexpr (way == Way::padded_pair) add_to_one_of_pair(d_y, step);
}
