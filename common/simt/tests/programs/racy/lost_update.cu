// Construct: a counter that all threads increment with ++. Expect: finding "DATA RACE" on d_count.
#include <stdio.h>

__global__ void count_even(const int* x, int n, int* d_count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] % 2 == 0) (*d_count)++;
}

int main() {
  int x[100], count = 0, *d_x, *d_count;
  for (int i = 0; i < 100; ++i) x[i] = i;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_count, sizeof(int));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  cudaMemcpy(d_count, &count, sizeof(int), cudaMemcpyHostToDevice);
  count_even<<<4, 32>>>(d_x, 100, d_count);
  cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%s: %d\n", count == 50 ? "PASSED" : "FAILED", count);
  return count != 50;
}
