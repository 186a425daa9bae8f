// Construct: a pointer of the host as a kernel's argument. Expect: finding "OUT OF BOUNDS" on x.
#include <stdio.h>
#include <stdlib.h>

__global__ void add_one(int* x) { x[threadIdx.x] += 1; }

int main() {
  int* x = (int*)calloc(32, sizeof(int));  // cudaMallocManaged was meant
  add_one<<<1, 32>>>(x);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  free(x);
  return 0;
}
