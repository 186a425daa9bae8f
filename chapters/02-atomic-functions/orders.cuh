// What does cuda::atomic_ref cost compared with atomicAdd, for each order and scope?
// Rungs: count_plain, count_relaxed_device, count_relaxed_system, count_seq_cst_device,
// count_default.
// Thread i adds 1 to d_y[i & mask]. The same additions in all rungs; what is ordered differs.
#pragma once

#include <cstddef>
#include <cuda/atomic>

#include "grid.cuh"

// Question: what does the atomic function do?
// Changes:  the baseline: atomicAdd is relaxed, and its scope is this GPU.
// Cost:     one RED per element.
__global__ void count_plain(std::size_t n, std::size_t mask, unsigned* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&d_y[i & mask], 1u);
}

// Question: and cuda::atomic_ref, for each order and scope?
// Changes:  fetch_add says what it orders, and among whom. Its defaults are seq_cst and system.
// Cost:     relaxed: nvcc 13.0 makes an ATOM of it where count_plain has a RED. seq_cst: a fence before
//           every single addition, which then is an acquire.
template <cuda::thread_scope scope, cuda::std::memory_order order>
__global__ void count_ref(std::size_t n, std::size_t mask, unsigned* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) cuda::atomic_ref<unsigned, scope>(d_y[i & mask]).fetch_add(1u, order);
}
