// Construct: __shared__ arrays of more than 48 KiB. Expect: finding "KERNEL STOPPED".
#include <stdio.h>

__global__ void reverse(float* x) {
  __shared__ float tile[8192], other[8192];
  tile[threadIdx.x] = x[threadIdx.x];
  other[threadIdx.x] = 0;
  __syncthreads();
  x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x] + other[threadIdx.x];
}

int main() {
  float* x;
  cudaMallocManaged(&x, 64 * sizeof(float));
  for (int i = 0; i < 64; ++i) x[i] = (float)i;
  reverse<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
