// Construct: a tree in shared memory whose loop has no __syncthreads(). Expect: finding "DATA RACE" on s_x.
#include <stdio.h>

__global__ void sum(const int* x, int* out) {
  __shared__ int s_x[64];
  int t = threadIdx.x;
  s_x[t] = x[blockIdx.x * 64 + t];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (t < half) s_x[t] += s_x[t + half];
  }
  if (t == 0) out[blockIdx.x] = s_x[0];
}

int main() {
  int x[128], out[2], *d_x, *d_out;
  for (int i = 0; i < 128; i++) x[i] = i;
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_out, sizeof(out));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  sum<<<2, 64>>>(d_x, d_out);
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  printf("%d\n", out[0] + out[1]);
  return 0;
}
