// Construct: only the last block, which has fewer elements, has a race. Expect: finding "DATA RACE" on d_out.
#include <stdio.h>

__global__ void shift(const int* x, int* d_out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int to = i < n ? i : n - 1;  // clamped, so that all threads of the tail write the last element
  d_out[to] = x[to] + i;
}

int main() {
  const int n = 100;
  int out[n], *d_x, *d_out;
  cudaMalloc(&d_x, n * sizeof(int));
  cudaMalloc(&d_out, n * sizeof(int));
  cudaMemset(d_x, 0, n * sizeof(int));
  shift<<<4, 32>>>(d_x, d_out, n);
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  printf("%d\n", out[n - 1]);
  return 0;
}
