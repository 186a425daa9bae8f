// Construct: a stencil that writes where its neighbours read. Expect: finding "DATA RACE" on d_x.
#include <stdio.h>

__global__ void smooth(float* d_x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) d_x[i] = (d_x[i - 1] + d_x[i] + d_x[i + 1]) / 3;
}

int main() {
  const int n = 100;
  float x[n], *d_x;
  for (int i = 0; i < n; i++) x[i] = i % 5;
  cudaMalloc(&d_x, sizeof(x));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  for (int step = 0; step < 3; step++) smooth<<<4, 32>>>(d_x, n);
  cudaMemcpy(x, d_x, sizeof(x), cudaMemcpyDeviceToHost);
  printf("%f\n", x[50]);
  return 0;
}
