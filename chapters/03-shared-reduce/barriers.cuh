// Two trees whose barriers not all threads reach. Both are wrong on purpose, and neither is a race:
// races.cu shows what the CPU device says.
#pragma once

#include <course/error.cuh>
#include <cstddef>

#include "grid.cuh"

// Question: threads without an element have nothing to add; may they leave?
// Changes:  an early return, as in chapter 01's kernels.
// Cost:     a wrong sum in the last block, which adds elements that no thread has written. It does
//           not hang: a barrier waits only for the threads that have not returned.
template <class T>
__global__ void sum_early_return(const T* d_x, std::size_t n, T* d_y) {
  __shared__ T s_y[kBlockSize];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;  // wrong on purpose: the elements of these threads in s_y stay undefined
  s_y[threadIdx.x] = d_x[i];
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) s_y[threadIdx.x] += s_y[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(d_y, s_y[0]);
}

// Question: only the lower half adds; does only the lower half need the barrier?
// Changes:  the barrier is inside the `if`.
// Cost:     half of the block waits at a barrier that the other half skips: undefined behaviour. A
//           GPU may hang, or go on as if nothing were wrong.
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
