// Construct: shared counters that are never set to zero. Expect: finding "UNINITIALISED" on s_bins.
#include <stdio.h>

__global__ void count(const int* x, int* bins) {
  __shared__ int s_bins[8];
  atomicAdd(&s_bins[x[threadIdx.x] % 8], 1);
  __syncthreads();
  if (threadIdx.x < 8) atomicAdd(&bins[threadIdx.x], s_bins[threadIdx.x]);
}

int main() {
  int *d_x, *d_bins;
  cudaMalloc(&d_x, 64 * sizeof(int));
  cudaMalloc(&d_bins, 8 * sizeof(int));
  cudaMemset(d_x, 0, 64 * sizeof(int));
  cudaMemset(d_bins, 0, 8 * sizeof(int));
  count<<<1, 64>>>(d_x, d_bins);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
