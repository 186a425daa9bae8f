// What the hardware does have: atomic additions of two halves, and since sm_90 of eight.
// Rungs: add_padded_pair, add_half2, red_half2, red_half8.
// The same table as in add_half.cuh; x begins at a multiple of 16 bytes.
#pragma once

#include <cuda_fp16.h>

#include <course/pack.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstdint>

#include "grid.cuh"
#include "table.cuh"

/// The number that can be added without changing anything. 0.0 would turn a -0.0 into 0.0.
__host__ __device__ inline __half minus_zero() { return __ushort_as_half(0x8000); }

/// Adds `value` to *address by an atomic on the pair that it is part of. The pair's other half must
/// be allocated, and does not change (but the bits of a NaN may become another NaN's).
__device__ inline void add_to_one_of_pair(__half* address, __half value) {
  const bool upper = reinterpret_cast<std::uintptr_t>(address) % sizeof(__half2) != 0;
  auto* const pair = reinterpret_cast<__half2*>(upper ? address - 1 : address);
  atomicAdd(pair,
            upper ? __halves2half2(minus_zero(), value) : __halves2half2(value, minus_zero()));
}

// Question: can one half have the hardware's addition as well?
// Changes:  an atomic on the pair around it; the other half gets a -0.0. (Chapter 08 goes on here.)
// Cost:     one atomic per element and no loop; half of the addends are -0.0.
__global__ void add_padded_pair(const __half* d_x, std::size_t n, std::size_t row_mask,
                                __half* d_table) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) add_to_one_of_pair(&d_table[cell_of(i, row_mask)], d_x[i]);
}

/// What one thread of add_half2 and red_half2 does for its pair j: the tail may be one element.
template <class AddPair>
__device__ void add_pair_of_table(const __half* d_x, std::size_t n, std::size_t row_mask,
                                  __half* d_table, AddPair add_pair) {
  const std::size_t i = 2 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    add_pair(reinterpret_cast<__half2*>(&d_table[cell_of(i, row_mask)]),
             *reinterpret_cast<const __half2*>(d_x + i));
  } else if (i < n) {
    atomicAdd(&d_table[cell_of(i, row_mask)], d_x[i]);
  }
}

// Question: what if there is a number to add to both halves of a pair?
// Changes:  thread j owns x[2j] and x[2j+1], whose cells are neighbours: one atomicAdd(__half2*).
// Cost:     half of the atomics. Each half is added atomically; the pair as a whole is not.
__global__ void add_half2(const __half* d_x, std::size_t n, std::size_t row_mask, __half* d_table) {
  add_pair_of_table(d_x, n, row_mask, d_table, [](__half2* p, __half2 v) { atomicAdd(p, v); });
}

// Question: the kernel does not need the old values; does it help to say so?
// Changes:  red.global.add.noftz.f16x2 by inline PTX: global memory, and no value is returned.
// Cost:     one RED, instead of an ATOM followed by a test for shared memory.
__global__ void red_half2(const __half* d_x, std::size_t n, std::size_t row_mask, __half* d_table) {
  add_pair_of_table(d_x, n, row_mask, d_table,
                    [](__half2* p, __half2 v) { course::red_add(p, v); });
}

/// p[0..7] += v, with as few atomics as the address allows: one at a multiple of 16 (four before
/// sm_90), four at a multiple of 4, and five elsewhere. (Which elements make a pair is known when
/// this is compiled; if it were computed, v would have to lie in memory, and not in registers.)
__device__ inline void red_add_eight(__half* p, const course::Pack<__half, 8>& v) {
  const auto pair = [&](int k) { return __halves2half2(v.elem[k], v.elem[k + 1]); };
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  if (at % 16 == 0) {
    const __half2 four[4] = {pair(0), pair(2), pair(4), pair(6)};
    course::red_add_v4(reinterpret_cast<__half2*>(p), four);
  } else if (at % 4 == 0) {
    for (int k = 0; k < 8; k += 2) course::red_add(reinterpret_cast<__half2*>(p + k), pair(k));
  } else {
    atomicAdd(p, v.elem[0]);
    for (int k = 1; k < 7; k += 2) course::red_add(reinterpret_cast<__half2*>(p + k), pair(k));
    atomicAdd(p + 7, v.elem[7]);
  }
}

// Question: how much can one atomic add?
// Changes:  thread j owns eight elements, 16 bytes: red.global.add.noftz.v4.f16x2, since sm_90.
// Cost:     an eighth of the atomics of the first rung, and one load of 16 bytes.
__global__ void red_half8(const __half* d_x, std::size_t n, std::size_t row_mask, __half* d_table) {
  const std::size_t first = kRow * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (first + kRow <= n) {
    red_add_eight(&d_table[cell_of(first, row_mask)], course::load_pack<8>(d_x + first));
    return;
  }
  for (std::size_t i = first; i < n; ++i) atomicAdd(&d_table[cell_of(i, row_mask)], d_x[i]);
}
