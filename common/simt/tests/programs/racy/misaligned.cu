// Construct: a float4 at an address that is no multiple of 16. Expect: finding "MISALIGNED" on d_x.
#include <stdio.h>

__global__ void sum4(const float* d_x, float* out) {
  float4 v = *reinterpret_cast<const float4*>(d_x + threadIdx.x);  // 4 * threadIdx.x was meant
  out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main() {
  float *d_x, *d_out;
  cudaMalloc(&d_x, 64 * sizeof(float));
  cudaMalloc(&d_out, 16 * sizeof(float));
  cudaMemset(d_x, 0, 64 * sizeof(float));
  sum4<<<1, 16>>>(d_x, d_out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
