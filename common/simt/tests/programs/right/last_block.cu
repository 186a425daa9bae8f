// Construct: the last block sums the parts of all: __threadfence() and a ticket; namespace-scope shared memory. Expect: runs.
#include <stdio.h>

extern __shared__ float s_parts[];
__device__ unsigned int tickets = 0;

__device__ float block_sum(float mine) {
  s_parts[threadIdx.x] = mine;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) s_parts[threadIdx.x] += s_parts[threadIdx.x + half];
    __syncthreads();
  }
  float sum = s_parts[0];
  __syncthreads();
  return sum;
}

__global__ void sum(const float* x, int n, float* parts, float* result) {
  __shared__ bool s_is_last;
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    mine += x[i];
  float part = block_sum(mine);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = part;
    __threadfence();
    s_is_last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!s_is_last) return;
  mine = threadIdx.x < gridDim.x ? parts[threadIdx.x] : 0.0f;
  part = block_sum(mine);
  if (threadIdx.x == 0) *result = part;
}

int main() {
  const int n = 300, blocks = 5;
  float x[n], expected = 0, result, *d_x, *d_parts, *d_result;
  for (int i = 0; i < n; ++i) expected += x[i] = (float)(i % 17);
  cudaMalloc(&d_x, sizeof(x));
  cudaMalloc(&d_parts, blocks * sizeof(float));
  cudaMalloc(&d_result, sizeof(float));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  for (int round = 0; round < 2; ++round) {  // the ticket wraps around: ready for the next launch
    sum<<<blocks, 32, 32 * sizeof(float)>>>(d_x, n, d_parts, d_result);
    cudaMemcpy(&result, d_result, sizeof(float), cudaMemcpyDeviceToHost);
    if (result != expected) {
      printf("FAILED: %f, not %f\n", result, expected);
      return 1;
    }
  }
  printf("PASSED\n");
  return 0;
}
