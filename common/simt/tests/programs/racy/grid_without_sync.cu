// Construct: two phases over the grid with only a block's barrier between. Expect: finding "DATA RACE" on y.
#include <cstdio>

__global__ void two_phases(const int* x, int* y, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  y[i] = 2 * x[i];
  __syncthreads();  // grid.sync(), or a second kernel, is needed
  out[i] = y[n - 1 - i];
}

int main() {
  int *x, *y, *out;
  cudaMalloc(&x, 96 * sizeof(int));
  cudaMalloc(&y, 96 * sizeof(int));
  cudaMalloc(&out, 96 * sizeof(int));
  cudaMemset(x, 0, 96 * sizeof(int));
  two_phases<<<3, 32>>>(x, y, out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
