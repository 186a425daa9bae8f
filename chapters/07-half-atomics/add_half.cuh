// What is atomicAdd(__half*)? CUDA's function beside two loops that show how it is made.
// Rungs: add_half, add_half_cas, add_half_cas16.
// Thread i owns x[i], and adds it to its cell of a table (table.cuh).
#pragma once

#include <cuda_fp16.h>

#include <cstddef>

#include "cas16.cuh"
#include "grid.cuh"
#include "table.cuh"

// Question: what does CUDA offer for one half?
// Changes:  nothing yet: the float kernel of chapter 01 with another type.
// Cost:     it looks like one atomic, and is a loop of compare-and-swap on 32 bits: two neighbours
//           get in each other's way.
__global__ void add_half(const __half* d_x, std::size_t n, std::size_t row_mask, __half* d_table) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&d_table[cell_of(i, row_mask)], d_x[i]);
}

// Question: what if one writes that loop down?
// Changes:  atomic_update_half with an addition.
// Cost:     the same loop, so the same time: that is what the first rung is.
__global__ void add_half_cas(const __half* d_x, std::size_t n, std::size_t row_mask,
                             __half* d_table) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half value = d_x[i];
  atomic_update_half(&d_table[cell_of(i, row_mask)], [=](__half old) { return old + value; });
}

// Question: is there no atomicCAS of 16 bits?
// Changes:  atomicCAS(unsigned short*), since sm_70: no masks, no neighbour to think of.
// Cost:     the function is a loop on the word itself, so that two loops are nested.
__global__ void add_half_cas16(const __half* d_x, std::size_t n, std::size_t row_mask,
                               __half* d_table) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __half value = d_x[i];
  atomic_update_half_cas16(&d_table[cell_of(i, row_mask)], [=](__half old) { return old + value; });
}
