// Construct: a member of cudaDeviceProp that CUDA 13 has no longer. Expect: unsupported "CUDA 13 has no cudaDeviceProp::clockRate".
#include <stdio.h>

__global__ void wait(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  wait<<<1, 1>>>(10 * properties.clockRate);  // unsupported
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
