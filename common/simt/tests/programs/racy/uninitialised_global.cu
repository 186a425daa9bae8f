// Construct: a sum that starts from what cudaMalloc left. Expect: finding "UNINITIALISED" on d_sum.
#include <stdio.h>

__global__ void sum(const int* x, int* d_sum) { atomicAdd(d_sum, x[threadIdx.x]); }

int main() {
  int *d_x, *d_sum;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemset(d_x, 0, 32 * sizeof(int));
  sum<<<1, 32>>>(d_x, d_sum);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
