// Construct: a call of the runtime API in a kernel. Expect: unsupported "cudaDeviceGetAttribute".
#include <stdio.h>

__global__ void ask(int* out) {
  int count = 0;
  cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0);  // unsupported
  *out = count;
}

int main() {
  int* d_out;
  cudaMalloc(&d_out, sizeof(int));
  ask<<<1, 1>>>(d_out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
