// Construct: a Hillis-Steele scan in one buffer, one barrier per step. Expect: finding "DATA RACE" on s_x.
#include <stdio.h>

__global__ void scan(int* x) {
  extern __shared__ int s_x[];
  int t = threadIdx.x;
  s_x[t] = x[t];
  for (int distance = 1; distance < blockDim.x; distance *= 2) {
    __syncthreads();
    if (t >= distance) s_x[t] += s_x[t - distance];  // reads what another thread changes
  }
  x[t] = s_x[t];
}

int main() {
  int* d_x;
  cudaMalloc(&d_x, 96 * sizeof(int));
  cudaMemset(d_x, 0, 96 * sizeof(int));
  scan<<<1, 96, 96 * sizeof(int)>>>(d_x);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
