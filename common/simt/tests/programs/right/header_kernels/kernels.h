#pragma once

template <typename T>
__global__ void clamp_below(T* x, int n, T low) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] < low) x[i] = low;
}

static __global__ void add_index(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += i;
}
