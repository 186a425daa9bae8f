// Construct: a double buffer that is read where it is being filled. Expect: finding "DATA RACE" on s_buffers.
#include <stdio.h>

__global__ void stream(const int* x, int* out, int steps) {
  __shared__ int s_buffers[2][64];
  int t = threadIdx.x, sum = 0;
  s_buffers[0][t] = x[t];
  __syncthreads();
  for (int step = 0; step < steps; step++) {
    int filled = (step + 1) % 2;
    if (step + 1 < steps) s_buffers[filled][t] = x[(step + 1) * 64 + t];
    sum += s_buffers[step + 1 < steps ? filled : 1 - filled][63 - t];  // should read 1 - filled
    __syncthreads();
  }
  out[t] = sum;
}

int main() {
  int *x, *out;
  cudaMalloc(&x, 4 * 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(x, 0, 4 * 64 * sizeof(int));
  stream<<<1, 64>>>(x, out, 4);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
