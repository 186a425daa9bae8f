// Construct: a histogram in shared memory that counts with +=. Expect: finding "DATA RACE" on s_bins.
#include <stdio.h>

__global__ void histogram(const unsigned char* x, int n, unsigned* bins) {
  __shared__ unsigned s_bins[16];
  if (threadIdx.x < 16) s_bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) s_bins[x[i] % 16] += 1;
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], s_bins[threadIdx.x]);
}

int main() {
  unsigned char x[200], *d_x;
  unsigned bins[16], *d_bins;
  for (int i = 0; i < 200; ++i) x[i] = i * i;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_bins, sizeof(bins));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  cudaMemset(d_bins, 0, sizeof(bins));
  histogram<<<1, 64>>>(d_x, 200, d_bins);
  cudaMemcpy(bins, d_bins, sizeof(bins), cudaMemcpyDeviceToHost);
  printf("%u\n", bins[0]);
  return 0;
}
