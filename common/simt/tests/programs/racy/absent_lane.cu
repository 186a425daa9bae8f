// Construct: a shuffle from lanes that skip the call. Expect: finding "SHUFFLE FROM AN ABSENT LANE".
#include <stdio.h>

__global__ void sum(const int* x, int* out, int n) {
  int t = threadIdx.x, value = t < n ? x[t] : 0;
  if (t < n) {
    for (int offset = 16; offset > 0; offset /= 2)
      value += __shfl_down_sync(__activemask(), value, offset);
  }
  if (t == 0) *out = value;
}

int main() {
  int *d_x, *d_out;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaMalloc(&d_out, sizeof(int));
  cudaMemset(d_x, 0, 32 * sizeof(int));
  sum<<<1, 32>>>(d_x, d_out, 20);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
