// Construct: a launch of more threads than a block may have, whose error is not asked for. Expect: finding "KERNEL NOT STARTED".
#include <stdio.h>

__global__ void fill(int* x) { x[threadIdx.x] = 7; }

int main() {
  int* x;
  cudaMallocManaged(&x, 2048 * sizeof(int));
  x[0] = 0;
  fill<<<1, 2048>>>(x);
  cudaDeviceSynchronize();
  printf("%d\n", x[0]);
  cudaFree(x);
  return 0;
}
