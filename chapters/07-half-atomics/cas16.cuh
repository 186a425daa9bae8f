// Any operation on one half, in one atomic step: compare-and-swap on the 32-bit word around it.
// The hardware does not swap 16 bits. So the neighbour is swapped, too, and must keep its bits.
// Rungs: min_half; and two loops that are wrong on purpose: add_half_own_bits, add_half_by_value.
#pragma once

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

#include "grid.cuh"
#include "table.cuh"

/// The 32-bit word that a half is part of, and how many bits of the word are below the half.
struct WordAround {
  unsigned* word;
  unsigned shift;  // 0: the half has the lower address; 16: the higher one
};

__device__ inline WordAround word_around(__half* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return {reinterpret_cast<unsigned*>(at & ~std::uintptr_t{3}), (at & 2) != 0 ? 16u : 0u};
}

/// The half in a word; and the word with another half there, its neighbour's bits untouched.
__device__ inline __half half_in(unsigned word, unsigned shift) {
  return __ushort_as_half(static_cast<unsigned short>(word >> shift));
}
__device__ inline unsigned with_half(unsigned word, unsigned shift, __half value) {
  return (word & ~(0xFFFFu << shift)) | (static_cast<unsigned>(__half_as_ushort(value)) << shift);
}

/// Replaces *address by f(*address) in one atomic step, and returns what was there. f may run
/// several times, so it must only compute. The other half of the word keeps its bits, whatever they
/// are, and others may change it at the same time by atomic functions. Its memory must be allocated,
/// even if no array uses it. Global or shared memory.
template <class F>
__device__ __half atomic_update_half(__half* address, F f) {
  const auto [word, shift] = word_around(address);
  unsigned old = *static_cast<volatile unsigned*>(word);  // a guess, of both halves
  unsigned assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, with_half(assumed, shift, f(half_in(assumed, shift))));
  } while (old != assumed);  // words are compared, bit by bit: not halves, and not this one alone
  return half_in(old, shift);
}

/// The same by CUDA's atomicCAS of 16 bits. In CUDA C++ it touches the half alone. In hardware it
/// is a loop on the word as well, so this is a loop around a loop.
template <class F>
__device__ __half atomic_update_half_cas16(__half* address, F f) {
  auto* const bits = reinterpret_cast<unsigned short*>(address);
  unsigned short old = *static_cast<volatile unsigned short*>(bits);
  unsigned short assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed, __half_as_ushort(f(__ushort_as_half(assumed))));
  } while (old != assumed);
  return __ushort_as_half(old);
}

/// *address = the smaller one, as __hmin says: a number beats a NaN, and -0.0 is below 0.0.
__device__ inline __half atomic_min_half(__half* address, __half value) {
  return atomic_update_half(address, [=](__half old) { return __hmin(old, value); });
}

// Question: what if CUDA C++ has no function? (min_half.cuh: what PTX has since sm_90.)
// Changes:  f is a minimum. Thread i brings x[i] to its cell.
// Cost:     an atomicCAS per element, and one more each time that anything in the word has changed.
__global__ void min_half(const __half* d_x, std::size_t n, std::size_t row_mask, __half* d_table) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomic_min_half(&d_table[cell_of(i, row_mask)], d_x[i]);
}

// Question: may the loop end when this half is as it was assumed?
// Changes:  the last line compares 16 bits. atomicCAS has compared 32.
// Cost:     if only the neighbour has changed, nothing was stored, and the loop ends all the same:
//           additions are lost. Wrong on purpose.
__global__ void add_half_own_bits(std::size_t n, __half* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const auto [word, shift] = word_around(&d_y[i % 2]);
  unsigned old = *static_cast<volatile unsigned*>(word), assumed;
  do {
    assumed = old;
    const __half sum = half_in(assumed, shift) + __float2half(1.0f);
    old = atomicCAS(word, assumed, with_half(assumed, shift, sum));
  } while ((old >> shift & 0xFFFFu) != (assumed >> shift & 0xFFFFu));
}

// Question: may the loop compare halves instead of bits?
// Changes:  the last line compares values. A NaN differs from itself; -0.0 and 0.0 do not differ.
// Cost:     at a NaN it never ends (here: after most_turns), and if it guessed 0.0 and found -0.0
//           it ends without having stored. Wrong on purpose.
__global__ void add_half_by_value(__half guess, __half value, int most_turns, __half* d_y,
                                  int* d_turns) {
  const auto [word, shift] = word_around(d_y);
  unsigned old = with_half(*static_cast<volatile unsigned*>(word), shift, guess), assumed;
  int turns = 0;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, with_half(assumed, shift, half_in(assumed, shift) + value));
    ++turns;
  } while (half_in(old, shift) != half_in(assumed, shift) && turns < most_turns);
  *d_turns = turns;
}
