// Construct: a race inside a recursive device function. Expect: finding "DATA RACE" on s_x.
#include <cstdio>

__device__ void halve(int* s_x, int t, int n) {
  if (n == 1) return;
  const int half = n / 2;
  if (t < half) s_x[t] = max(s_x[t], s_x[t + half]);
  halve(s_x, t, half);  // a barrier belongs before
}

__global__ void maximum(int* x) {
  __shared__ int s_x[128];
  s_x[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  halve(s_x, threadIdx.x, blockDim.x);
  if (threadIdx.x == 0) x[0] = s_x[0];
}

int main() {
  int* d_x;
  cudaMalloc(&d_x, 128 * sizeof(int));
  cudaMemset(d_x, 0, 128 * sizeof(int));
  maximum<<<1, 128>>>(d_x);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
