// Construct: two kernels in two streams that wait for each other. Expect: finding "ENDLESS LOOP".
#include <cstdio>

__global__ void wait_and_set(int* mine, int* other) {
  while (atomicAdd(mine, 0) == 0) {
  }
  __threadfence();
  atomicExch(other, 1);
}

int main() {
  int* d_flags;
  cudaStream_t first, second;
  cudaMalloc(&d_flags, 2 * sizeof(int));
  cudaMemset(d_flags, 0, 2 * sizeof(int));
  cudaDeviceSynchronize();
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  wait_and_set<<<1, 32, 0, first>>>(d_flags, d_flags + 1);
  wait_and_set<<<1, 32, 0, second>>>(d_flags + 1, d_flags);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
