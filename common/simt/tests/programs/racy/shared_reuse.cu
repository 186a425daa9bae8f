// Construct: shared memory used again by a second sum, without a barrier between. Expect: finding "DATA RACE" on s_warps.
#include <stdio.h>

__device__ float block_sum(float x) {
  __shared__ float s_warps[32];
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_down_sync(0xffffffff, x, offset);
  if (threadIdx.x % 32 == 0) s_warps[threadIdx.x / 32] = x;
  __syncthreads();
  float sum = 0;
  for (int w = 0; w < blockDim.x / 32; w++) sum += s_warps[w];
  return sum;  // a barrier is missing: the next call writes s_warps
}

__global__ void normalize(float* x) {
  float mean = block_sum(x[threadIdx.x]) / blockDim.x;
  float square = block_sum((x[threadIdx.x] - mean) * (x[threadIdx.x] - mean));
  x[threadIdx.x] = (x[threadIdx.x] - mean) * rsqrtf(square / blockDim.x + 1e-5f);
}

int main() {
  float* d_x;
  cudaMalloc(&d_x, 96 * sizeof(float));
  cudaMemset(d_x, 0, 96 * sizeof(float));
  normalize<<<1, 96>>>(d_x);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
