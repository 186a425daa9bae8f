// Construct: a tile that the next step overwrites while slow warps still read it. Expect: finding "DATA RACE" on tile.
#include <cstdio>

__global__ void sum_columns(const int* x, int* sums, int rows) {
  __shared__ int tile[64];
  int sum = 0;
  for (int row = 0; row < rows; ++row) {
    tile[threadIdx.x] = x[row * 64 + threadIdx.x];
    __syncthreads();
    sum += tile[63 - threadIdx.x];  // and no barrier before the next write
  }
  sums[threadIdx.x] = sum;
}

int main() {
  int *d_x, *d_sums;
  cudaMalloc(&d_x, 4 * 64 * sizeof(int));
  cudaMalloc(&d_sums, 64 * sizeof(int));
  cudaMemset(d_x, 1, 4 * 64 * sizeof(int));
  sum_columns<<<1, 64>>>(d_x, d_sums, 4);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
