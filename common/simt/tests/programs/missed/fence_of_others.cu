// Construct: every thread fences, and after a barrier thread 0 alone announces. Expect: missed "it is taken for a release, though PTX wants a fence of thread 0 after the barrier".
#include <cstdio>

__global__ void hand_over(int* d_message, int* d_flag, int* d_sum) {
  if (blockIdx.x == 0) {
    d_message[threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(d_flag, 1);
  } else if (threadIdx.x == 0) {
    while (atomicAdd(d_flag, 0) == 0) {
    }
    __threadfence();
    for (int i = 0; i < 64; ++i) *d_sum += d_message[i];
  }
}

int main() {
  int *d_message, *d_flag, *d_sum, sum;
  cudaMalloc(&d_message, 64 * sizeof(int));
  cudaMalloc(&d_flag, sizeof(int));
  cudaMalloc(&d_sum, sizeof(int));
  cudaMemset(d_flag, 0, sizeof(int));
  cudaMemset(d_sum, 0, sizeof(int));
  hand_over<<<2, 64>>>(d_message, d_flag, d_sum);
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  std::printf("%d\n", sum);
}
