// Construct: an assert in a kernel that fails. Expect: finding "KERNEL STOPPED".
#include <assert.h>
#include <stdio.h>

__global__ void roots(const float* x, float* out) {
  assert(x[threadIdx.x] >= 0.0f);
  out[threadIdx.x] = sqrtf(x[threadIdx.x]);
}

int main() {
  float x[32], *d_x, *d_out;
  for (int i = 0; i < 32; ++i) x[i] = i == 20 ? -1.0f : i;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_out, sizeof(x));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  roots<<<1, 32>>>(d_x, d_out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
