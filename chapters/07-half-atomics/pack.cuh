// One name for "add these N numbers", with one atomic where there is one for them.
// Rungs: add_packs<T, N>: bfloat16 alone and in pairs; float alone and in fours.
// The article's idea, Pack<T, N>, made to add N different values. Chapter 04 has the pack.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <course/pack.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <type_traits>

#include "grid.cuh"
#include "table.cuh"

/// *address += values, element by element, each atomically. A pack is aligned to its whole size, so
/// `address` has to be a multiple of N * sizeof(T).
template <class T, int N>
__device__ void atomic_add_pack(course::Pack<T, N>* address, const course::Pack<T, N>& values) {
  T* const p = address->elem;
  if constexpr (std::is_same_v<T, __half> && N == 2) {
    atomicAdd(reinterpret_cast<__half2*>(p), __halves2half2(values.elem[0], values.elem[1]));
  } else if constexpr (std::is_same_v<T, __nv_bfloat16> && N == 2) {
    atomicAdd(reinterpret_cast<__nv_bfloat162*>(p),
              __halves2bfloat162(values.elem[0], values.elem[1]));
  } else if constexpr (std::is_same_v<T, float> && N == 4) {
    course::red_add(reinterpret_cast<float4*>(p),
                    make_float4(values.elem[0], values.elem[1], values.elem[2], values.elem[3]));
  } else {
    for (int k = 0; k < N; ++k) atomicAdd(p + k, values.elem[k]);  // N atomics: right for every T
  }
}

/// The article's AtomicAdd: the same value to *every* element of the pack.
template <class T, int N>
__device__ void atomic_add_to_all(course::Pack<T, N>* address, T value) {
  course::Pack<T, N> values;
  for (int k = 0; k < N; ++k) values.elem[k] = value;
  atomic_add_pack(address, values);
}

// Question: and other types?
// Changes:  T and N. bfloat16 is native in pairs since sm_90, a loop before; float comes in fours
//           since sm_90.
// Cost:     n / N atomics where the hardware has them.
template <class T, int N>
__global__ void add_packs(const T* d_x, std::size_t n, std::size_t row_mask, T* d_table) {
  const std::size_t first = N * (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
  if (first + N <= n) {
    atomic_add_pack(reinterpret_cast<course::Pack<T, N>*>(&d_table[cell_of(first, row_mask)]),
                    course::load_pack<N>(d_x + first));
    return;
  }
  for (std::size_t i = first; i < n; ++i) atomicAdd(&d_table[cell_of(i, row_mask)], d_x[i]);
}
