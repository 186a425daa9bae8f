// Construct: atomicAdd_block on a sum of all blocks. Expect: finding "DATA RACE" on d_sum.
#include <cstdio>

__global__ void sum(const int* x, int* d_sum) {
  atomicAdd_block(d_sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
}

int main() {
  int *d_x, *d_sum;
  cudaMalloc(&d_x, 128 * sizeof(int));
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemset(d_x, 0, 128 * sizeof(int));
  cudaMemset(d_sum, 0, sizeof(int));
  sum<<<4, 32>>>(d_x, d_sum);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
