// Construct: the host reads the target of cudaMemcpyAsync before it waits. Expect: finding "DATA RACE of the host".
#include <stdio.h>

__global__ void fill(int* x) { x[threadIdx.x] = 7; }

int main() {
  int *h_x, *d_x;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMallocHost(&h_x, 32 * sizeof(int));
  cudaMalloc(&d_x, 32 * sizeof(int));
  for (int i = 0; i < 32; i++) h_x[i] = 0;
  fill<<<1, 32, 0, stream>>>(d_x);
  cudaMemcpyAsync(h_x, d_x, 32 * sizeof(int), cudaMemcpyDeviceToHost, stream);
  int sum = 0;
  for (int i = 0; i < 32; i++) sum += h_x[i];  // cudaStreamSynchronize(stream) belongs before
  printf("%d\n", sum);
  return 0;
}
