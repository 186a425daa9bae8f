// Construct: a .cpp file of the host beside a .cu file, a C header between them. Expect: runs.
#include <cstdio>

#include "wave.h"

__global__ void wave(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i % 4 - 1.5f;
}

extern "C" int launch_wave(float* d_x, int n) {
  wave<<<(n + 31) / 32, 32>>>(d_x, n);
  return cudaGetLastError() == cudaSuccess;
}
