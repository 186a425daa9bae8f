// Construct: two streams that nothing orders, one writes what the other reads. Expect: finding "DATA RACE" on d_x.
#include <stdio.h>

__global__ void produce(int* d_x) { d_x[threadIdx.x] = threadIdx.x; }
__global__ void consume(const int* d_x, int* d_out) { d_out[threadIdx.x] = d_x[threadIdx.x] + 1; }

int main() {
  int *d_x, *d_out;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaMalloc(&d_out, 32 * sizeof(int));
  cudaMemset(d_x, 0, 32 * sizeof(int));
  cudaDeviceSynchronize();
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  produce<<<1, 32, 0, first>>>(d_x);
  consume<<<1, 32, 0, second>>>(d_x, d_out);  // cudaStreamWaitEvent is missing
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
