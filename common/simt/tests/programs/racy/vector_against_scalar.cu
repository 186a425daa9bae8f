// Construct: float4 stores that reach into what another thread reads as a float. Expect: finding "DATA RACE" on d_x.
#include <stdio.h>

__global__ void update(float* d_x, float* out) {
  int t = threadIdx.x;
  if (t < 8) {
    reinterpret_cast<float4*>(d_x)[t] = make_float4(t, t, t, t);
  } else {
    out[t] = d_x[t - 8];
  }
}

int main() {
  float *d_x, *d_out;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cudaMalloc(&d_out, 64 * sizeof(float));
  cudaMemset(d_x, 0, 32 * sizeof(float));
  update<<<1, 40>>>(d_x, d_out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
