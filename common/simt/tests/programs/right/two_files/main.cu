// Construct: several .cu files: extern __device__ variables and functions of another file. Expect: runs.
#include <stdio.h>

#include "table.h"

__device__ int factor = 3;

__global__ void look_up(int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[i % kTableSize] + scaled(i);
}

int main() {
  const int n = 60;
  int *d_out, out[n], wrong = 0;
  fill_table();
  cudaMalloc(&d_out, sizeof(out));
  look_up<<<2, 32>>>(d_out, n);
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) wrong += out[i] != (i % kTableSize) * (i % kTableSize) + 3 * i;
  printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}
