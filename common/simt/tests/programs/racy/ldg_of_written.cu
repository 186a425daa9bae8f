// Construct: __ldg() of memory that the same launch writes. Expect: finding "__LDG OF WRITTEN MEMORY" on d_x.
#include <stdio.h>

__global__ void add_left(int* d_x) {
  int t = threadIdx.x;
  int left = t > 0 ? __ldg(&d_x[t - 1]) : 0;
  __syncthreads();
  d_x[t] += left;
}

int main() {
  int* d_x;
  cudaMalloc(&d_x, 64 * sizeof(int));
  cudaMemset(d_x, 0, 64 * sizeof(int));
  add_left<<<1, 64>>>(d_x);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
