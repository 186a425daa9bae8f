// Construct: printf and assert in kernels, warpSize, clock64, __trap that is not reached. Expect: runs.
#include <assert.h>
#include <stdio.h>

__device__ int smid_free_rank() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

__global__ void report(long long* ticks, int n) {
  long long before = clock64();
  int rank = smid_free_rank();
  assert(blockDim.x <= 1024 && "a block has at most 1024 threads");
  if (threadIdx.x % warpSize == 0) {
    printf("block %d of %d, warp %u: %s %5.2f%%\n", rank, n, threadIdx.x / warpSize, "ready",
           100.0 * rank / n);
  }
  if (rank >= n) __trap();
  ticks[rank * blockDim.x + threadIdx.x] = clock64() - before;
}

int main() {
  const int blocks = 4, threads = 40;
  long long *d_ticks, ticks[blocks * threads];
  cudaMalloc(&d_ticks, sizeof(ticks));
  report<<<dim3(2, 1, 2), threads>>>(d_ticks, blocks);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  cudaMemcpy(ticks, d_ticks, sizeof(ticks), cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < blocks * threads; ++i) wrong += ticks[i] < 0;
  printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  cudaDeviceReset();
  return wrong;
}
