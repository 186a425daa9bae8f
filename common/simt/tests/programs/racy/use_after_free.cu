// Construct: memory that was freed before the launch. Expect: finding "USE AFTER FREE" on d_x.
#include <stdio.h>

__global__ void clear(int* d_x) { d_x[threadIdx.x] = 0; }

int main() {
  int* d_x;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaFree(d_x);
  clear<<<1, 32>>>(d_x);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
