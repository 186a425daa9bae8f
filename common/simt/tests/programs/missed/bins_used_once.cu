// Construct: a histogram without atomics whose data use each bin once. Expect: missed "no two threads meet in this run".
#include <cstdio>

__global__ void histogram(const int* d_x, int n, int* d_counts) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_counts[d_x[i]]++;
}

int main() {
  int x[64], *d_x, *d_counts, counts[64];
  for (int i = 0; i < 64; ++i) x[i] = 63 - i;
  cudaMalloc(&d_x, sizeof x);
  cudaMalloc(&d_counts, sizeof counts);
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  cudaMemset(d_counts, 0, sizeof counts);
  histogram<<<2, 32>>>(d_x, 64, d_counts);
  cudaMemcpy(counts, d_counts, sizeof counts, cudaMemcpyDeviceToHost);
  std::printf("%d\n", counts[5]);
}
