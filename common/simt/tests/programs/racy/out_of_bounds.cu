// Construct: no bounds check in the last block. Expect: finding "OUT OF BOUNDS" on d_y.
#include <stdio.h>

__global__ void scale(float* d_y, const float* d_x, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  d_y[i] = a * d_x[i % 100];
}

int main() {
  float *d_x, *d_y;
  cudaMalloc(&d_x, 100 * sizeof(float));
  cudaMalloc(&d_y, 100 * sizeof(float));
  cudaMemset(d_x, 0, 100 * sizeof(float));
  scale<<<4, 32>>>(d_y, d_x, 2.0f);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
