// Construct: a .c file of the host that has main(), includes omp.h and calls functions of a .cu file. Expect: runs.
#include "sum.h"

__global__ void sum(const int* x, int* total, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(total, x[i]);
}

extern "C" int sum_of(const int* x, int n) {
  int *d_x, *d_total, total = 0;
  cudaMalloc(&d_x, n * sizeof(int));
  cudaMalloc(&d_total, sizeof(int));
  cudaMemcpy(d_x, x, n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(d_total, &total, sizeof(int), cudaMemcpyHostToDevice);
  sum<<<(n + 63) / 64, 64>>>(d_x, d_total, n);
  cudaMemcpy(&total, d_total, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  cudaFree(d_total);
  return total;
}
