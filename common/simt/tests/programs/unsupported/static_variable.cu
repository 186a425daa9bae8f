// Construct: a static variable in a kernel. Expect: unsupported "a static variable in device code".
#include <stdio.h>

__global__ void number(int* x) {
  static int calls = 0;  // unsupported
  x[threadIdx.x] = atomicAdd(&calls, 1);
}

int main() {
  int* x;
  cudaMallocManaged(&x, 32 * sizeof(int));
  number<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
