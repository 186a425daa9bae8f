// Construct: headers of Thrust, CUB, cuFFT, cuSPARSE, cuSOLVER and cuDNN that are included and not used. Expect: runs.
#include "common.h"

#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <cub/cub.cuh>

#ifndef SIMT_CPU_DEVICE
#include <cublasXt.h>
void sort_by_library(int* d_x, int n) { thrust::sort(thrust::device, d_x, d_x + n); }
#endif

__global__ void sort_pairs(int* x, int n, int parity) {
  const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + parity;
  if (i + 1 < n && x[i] > x[i + 1]) {
    const int smaller = x[i + 1];
    x[i + 1] = x[i];
    x[i] = smaller;
  }
}

int main() {
  const float thrust = 2, cub = thrust * thrust * thrust;
  int x[kCount], *d_x;
  for (int i = 0; i < kCount; ++i) x[i] = i * 31 % kCount;
  CHECK(cudaMalloc(&d_x, sizeof(x)));
  CHECK(cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice));
  for (int step = 0; step < kCount; ++step) sort_pairs<<<1, kCount / 2>>>(d_x, kCount, step % 2);
  CHECK(cudaMemcpy(x, d_x, sizeof(x), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_x));
  for (int i = 0; i < kCount; ++i) {
    if (x[i] != i || cub != 8) return printf("FAILED at %d\n", i), 1;
  }
  printf("PASSED\n");
  return 0;
}
