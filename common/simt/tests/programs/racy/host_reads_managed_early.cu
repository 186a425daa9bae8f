// Construct: the host reads managed memory while the kernel may run. Expect: finding "DATA RACE" on sums.
#include <stdio.h>

__global__ void add(int* sums) { sums[threadIdx.x] += threadIdx.x; }

int main() {
  int* sums;
  cudaMallocManaged(&sums, 32 * sizeof(int));
  for (int i = 0; i < 32; i++) sums[i] = 1;
  add<<<1, 32>>>(sums);
  int total = 0;
  for (int i = 0; i < 32; i++) total += sums[i];  // cudaDeviceSynchronize() is missing
  printf("%d\n", total);
  cudaFree(sums);
  return 0;
}
