// Construct: a plain read of what other threads change with atomics. Expect: finding "DATA RACE" on d_count.
#include <stdio.h>

__global__ void limited(int* d_count, int* out, int limit) {
  if (*d_count < limit) {
    int slot = atomicAdd(d_count, 1);
    if (slot < limit) out[slot] = threadIdx.x;
  }
}

int main() {
  int *d_count, *d_out;
  cudaMalloc(&d_count, sizeof(int));
  cudaMalloc(&d_out, 10 * sizeof(int));
  cudaMemset(d_count, 0, sizeof(int));
  limited<<<2, 32>>>(d_count, d_out, 10);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
