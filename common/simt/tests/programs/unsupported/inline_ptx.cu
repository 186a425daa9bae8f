// Construct: inline PTX that course/ptx.cuh does not have. Expect: unsupported "PTX".
#include <stdio.h>

__global__ void highest_bit(const unsigned* x, unsigned* out) {
  unsigned result;
  asm("bfind.u32 %0, %1;" : "=r"(result) : "r"(x[0]));  // unsupported
  *out = result;
}

int main() {
  unsigned *d_x, *d_out;
  cudaMalloc(&d_x, sizeof(unsigned));
  cudaMalloc(&d_out, sizeof(unsigned));
  cudaMemset(d_x, 1, sizeof(unsigned));
  highest_bit<<<1, 1>>>(d_x, d_out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
