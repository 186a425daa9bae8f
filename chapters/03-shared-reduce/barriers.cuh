// Two trees whose barriers not all threads reach. Both are wrong on purpose, and neither is a race:
// races.cu shows what the CPU device says. A GPU may hang, or go on as if nothing were wrong.
#pragma once

#include <course/error.cuh>
#include <cstddef>

#include "grid.cuh"

// Question: threads without an element have nothing to add; may they leave?
// Changes:  an early return, as chapter 01's kernels would allow it.
// Cost:     in the last block the others wait at a barrier for threads that never come.
template <class T>
__global__ void sum_early_return(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_y[kBlockSize];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;  // wrong on purpose; and s_y keeps what it held where these threads are
  s_y[threadIdx.x] = d_x[i];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) s_y[threadIdx.x] += s_y[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(d_y, s_y[0]);
}

// Question: only the lower half adds; does only the lower half need the barrier?
// Changes:  the barrier stands inside the `if`.
// Cost:     half of the block waits at a barrier that the other half walks around.
template <class T>
__global__ void sum_barrier_in_if(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_y[kBlockSize];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  s_y[threadIdx.x] = i < n ? d_x[i] : T(0);
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      s_y[threadIdx.x] += s_y[threadIdx.x + half];
      __syncthreads();  // wrong on purpose
    }
  }
  if (threadIdx.x == 0) atomicAdd(d_y, s_y[0]);
}
