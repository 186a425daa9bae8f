// Construct: a last block that sums the parts of all, without __threadfence(). Expect: finding "DATA RACE" on d_parts.
#include <cstdio>

__device__ unsigned int arrived;

__global__ void sum(const int* d_x, int* d_parts, int* d_total) {
  __shared__ int s_sum;
  if (threadIdx.x == 0) s_sum = 0;
  __syncthreads();
  atomicAdd(&s_sum, d_x[blockIdx.x * blockDim.x + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x != 0) return;
  d_parts[blockIdx.x] = s_sum;
  // __threadfence() belongs here
  if (atomicAdd(&arrived, 1) == gridDim.x - 1) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += d_parts[b];
    *d_total = total;
  }
}

int main() {
  int *d_x, *d_parts, *d_total;
  cudaMalloc(&d_x, 4 * 32 * sizeof(int));
  cudaMalloc(&d_parts, 4 * sizeof(int));
  cudaMalloc(&d_total, sizeof(int));
  cudaMemset(d_x, 0, 4 * 32 * sizeof(int));
  sum<<<4, 32>>>(d_x, d_parts, d_total);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
