// Construct: 16-bit stores by all threads, read back as pairs in an int. Expect: finding "DATA RACE" on s_halves.
#include <stdio.h>

__global__ void pack(const short* x, int* pairs) {
  __shared__ __align__(4) short s_halves[64];
  s_halves[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 32) pairs[threadIdx.x] = reinterpret_cast<int*>(s_halves)[threadIdx.x];
}

int main() {
  short* d_x;
  int* d_pairs;
  cudaMalloc(&d_x, 64 * sizeof(short));
  cudaMalloc(&d_pairs, 32 * sizeof(int));
  cudaMemset(d_x, 0, 64 * sizeof(short));
  pack<<<1, 64>>>(d_x, d_pairs);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
