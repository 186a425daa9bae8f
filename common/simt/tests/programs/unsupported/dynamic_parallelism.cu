// Construct: dynamic parallelism: a kernel launches a kernel. Expect: unsupported "launch".
#include <stdio.h>

__global__ void child(int* x, int first) { x[first + threadIdx.x] = first; }

__global__ void parent(int* x, int n) {
  if (threadIdx.x < n) child<<<1, 8>>>(x, 8 * threadIdx.x);  // unsupported
}

int main() {
  int* d_x;
  cudaMalloc(&d_x, 64 * sizeof(int));
  parent<<<1, 8>>>(d_x, 8);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
