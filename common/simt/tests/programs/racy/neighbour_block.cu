// Construct: a block reads what the block before it wrote in the same launch. Expect: finding "DATA RACE" on d_sums.
#include <stdio.h>

__global__ void running_sums(const int* d_x, int* d_sums) {
  int sum = 0;
  for (int i = 0; i < 10; i++) sum += d_x[blockIdx.x * 10 + i];
  d_sums[blockIdx.x] = sum;
  if (blockIdx.x > 0) d_sums[blockIdx.x] = sum + d_sums[blockIdx.x - 1];
}

int main() {
  int *d_x, *d_sums;
  cudaMalloc(&d_x, 80 * sizeof(int));
  cudaMalloc(&d_sums, 8 * sizeof(int));
  cudaMemset(d_x, 0, 80 * sizeof(int));
  running_sums<<<8, 1>>>(d_x, d_sums);
  cudaError_t error = cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
