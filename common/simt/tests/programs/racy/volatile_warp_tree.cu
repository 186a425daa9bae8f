// Construct: a warp that counts on lockstep and volatile shared memory. Expect: finding "DATA RACE" on s_x.
#include <stdio.h>

__device__ void last_warp(volatile int* s_x, unsigned t) {
  s_x[t] += s_x[t + 32];
  s_x[t] += s_x[t + 16];
  s_x[t] += s_x[t + 8];
  s_x[t] += s_x[t + 4];
  s_x[t] += s_x[t + 2];
  s_x[t] += s_x[t + 1];
}

__global__ void sum(const int* x, int* out) {
  __shared__ int s_x[64];
  unsigned t = threadIdx.x;
  s_x[t] = x[blockIdx.x * blockDim.x + t];
  __syncthreads();
  if (t < 32) last_warp(s_x, t);
  if (t == 0) out[blockIdx.x] = s_x[0];
}

int main() {
  int *d_x, *d_out;
  cudaMalloc(&d_x, 128 * sizeof(int));
  cudaMalloc(&d_out, 2 * sizeof(int));
  cudaMemset(d_x, 0, 128 * sizeof(int));
  sum<<<2, 64>>>(d_x, d_out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
