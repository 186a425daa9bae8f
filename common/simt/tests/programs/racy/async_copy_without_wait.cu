// Construct: shared memory read before __pipeline_wait_prior(). Expect: finding "DATA RACE" on s_x.
#include <cuda_pipeline.h>
#include <stdio.h>

__global__ void copy(const int* in, int* out) {
  __shared__ int s_x[32];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s_x[t], &in[t], sizeof(int));
  __pipeline_commit();
  out[t] = s_x[t];
  __pipeline_wait_prior(0);  // belongs before the read
}

int main() {
  int *d_in, *d_out;
  cudaMalloc(&d_in, 32 * sizeof(int));
  cudaMalloc(&d_out, 32 * sizeof(int));
  cudaMemset(d_in, 0, 32 * sizeof(int));
  copy<<<1, 32>>>(d_in, d_out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
