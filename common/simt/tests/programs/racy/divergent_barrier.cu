// Construct: __syncthreads() inside an if. Expect: finding "BARRIER IN DIVERGENT CODE".
#include <stdio.h>

__global__ void sum(int* x, int n) {
  __shared__ int s_x[64];
  int t = threadIdx.x;
  s_x[t] = t;
  if (t < n) {
    __syncthreads();
    x[t] = s_x[n - 1 - t];
  }
}

int main() {
  int* d_x;
  cudaMalloc(&d_x, 64 * sizeof(int));
  sum<<<1, 64>>>(d_x, 40);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
