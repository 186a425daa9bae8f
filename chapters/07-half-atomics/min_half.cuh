// The minimum has an instruction, too: for two and for eight halves in global memory, since sm_90. CUDA
// C++ has no function for it. Rungs: min_half2_cas, min_half2, min_half8 (min_half: cas16.cuh).
// The same table as in add_half.cuh; x begins at a multiple of 16 bytes.
#pragma once

#include <cuda_fp16.h>

#include <course/pack.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstdint>

#include "cas16.cuh"
#include "grid.cuh"
#include "table.cuh"

/// What one thread of min_half2_cas and min_half2 does for its pair: the tail may be one element.
template <class MinPair>
__device__ void min_pair_of_table(const __half* d_x, std::size_t n, std::size_t row_mask,
                                  __half* d_table, MinPair min_pair) {
  const std::size_t i = 2 * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    min_pair(reinterpret_cast<__half2*>(&d_table[cell_of(i, row_mask)]),
             *reinterpret_cast<const __half2*>(d_x + i));
  } else if (i < n) {
    atomic_min_half(&d_table[cell_of(i, row_mask)], d_x[i]);
  }
}

// Question: the loop swaps a word of two halves. Why not for two numbers?
// Changes:  thread j owns x[2j] and x[2j+1], whose cells are neighbours: __hmin2 of the whole word.
// Cost:     half of the loops, and no neighbour in the word that another lane of the warp changes.
//           This is what course::red_min() does before sm_90.
__global__ void min_half2_cas(const __half* d_x, std::size_t n, std::size_t row_mask,
                              __half* d_table) {
  min_pair_of_table(d_x, n, row_mask, d_table, [](__half2* p, __half2 v) {
    course::update_pair(p, [=](__half2 old) { return __hmin2(old, v); });
  });
}

// Question: and what does the hardware have?
// Changes:  red.global.min.noftz.v2.f16 by inline PTX, since sm_90.
// Cost:     one RED for two numbers: no load, no loop, nothing returned.
__global__ void min_half2(const __half* d_x, std::size_t n, std::size_t row_mask, __half* d_table) {
  min_pair_of_table(d_x, n, row_mask, d_table,
                    [](__half2* p, __half2 v) { course::red_min(p, v); });
}

/// p[0..7] = the smaller ones of p[0..7] and v, as red_add_eight() adds: one RED at a multiple of 16,
/// four at a multiple of 4, three and two loops elsewhere. The words around p[0] and p[7] are there.
__device__ inline void red_min_eight(__half* p, const course::Pack<__half, 8>& v) {
  const auto pair = [&](int k) { return __halves2half2(v.elem[k], v.elem[k + 1]); };
  const auto at = reinterpret_cast<std::uintptr_t>(p);
  if (at % 16 == 0) {
    const __half2 four[4] = {pair(0), pair(2), pair(4), pair(6)};
    course::red_min_v4(reinterpret_cast<__half2*>(p), four);
  } else if (at % 4 == 0) {
    for (int k = 0; k < 8; k += 2) course::red_min(reinterpret_cast<__half2*>(p + k), pair(k));
  } else {
    atomic_min_half(p, v.elem[0]);
    for (int k = 1; k < 7; k += 2) course::red_min(reinterpret_cast<__half2*>(p + k), pair(k));
    atomic_min_half(p + 7, v.elem[7]);
  }
}

// Question: how many minima can one instruction take?
// Changes:  thread j owns eight elements, 16 bytes: red.global.min.noftz.v4.f16x2.
// Cost:     an eighth of the REDs of one number each, and one load of 16 bytes.
__global__ void min_half8(const __half* d_x, std::size_t n, std::size_t row_mask, __half* d_table) {
  const std::size_t first = kRow * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (first + kRow <= n) {
    red_min_eight(&d_table[cell_of(first, row_mask)], course::load_pack<8>(d_x + first));
    return;
  }
  for (std::size_t i = first; i < n; ++i) {
    atomic_min_half(&d_table[cell_of(i, row_mask)], d_x[i]);
  }
}
