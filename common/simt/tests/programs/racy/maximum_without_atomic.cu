// Construct: a maximum by comparison and store. Expect: finding "DATA RACE" on best.
#include <cstdio>

__device__ float best = -1e30f;

__global__ void maximum(const float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (x[i] > best) best = x[i];
  }
}

int main() {
  float x[90], result, *d_x;
  for (int i = 0; i < 90; ++i) x[i] = (i * 31) % 90;
  cudaMalloc(&d_x, sizeof(x));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  maximum<<<2, 32>>>(d_x, 90);
  cudaMemcpyFromSymbol(&result, best, sizeof(result));
  std::printf("%g\n", result);
}
