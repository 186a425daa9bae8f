// Construct: the last warp of a tree without __syncwarp(). Expect: finding "DATA RACE" on s_x.
#include <cstdio>

__device__ void last_warp(float* s_x, int t) {
  s_x[t] += s_x[t + 16];
  s_x[t] += s_x[t + 8];
  s_x[t] += s_x[t + 4];
  s_x[t] += s_x[t + 2];
  s_x[t] += s_x[t + 1];
}

__global__ void sum(float* x) {
  __shared__ float s_x[64];
  const int t = threadIdx.x;
  s_x[t] = x[t];
  s_x[t + 32] = 0;
  __syncthreads();
  if (t < 16) last_warp(s_x, t);
  if (t == 0) x[0] = s_x[0];
}

int main() {
  float* d_x;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cudaMemset(d_x, 0, 32 * sizeof(float));
  sum<<<1, 32>>>(d_x);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
