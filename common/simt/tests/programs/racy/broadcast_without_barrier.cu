// Construct: a value that thread 0 puts into shared memory, read without a barrier. Expect: finding "DATA RACE" on s_first.
#include <cstdio>

__global__ void reserve(int* counter, int* out) {
  __shared__ int s_first;
  if (threadIdx.x == 0) s_first = atomicAdd(counter, blockDim.x);
  out[s_first + threadIdx.x] = blockIdx.x;
}

int main() {
  int *d_counter, *d_out;
  cudaMalloc(&d_counter, sizeof(int));
  cudaMalloc(&d_out, 128 * sizeof(int));
  cudaMemset(d_counter, 0, sizeof(int));
  reserve<<<2, 64>>>(d_counter, d_out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
