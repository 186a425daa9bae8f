// Construct: the host dereferences a pointer of the device. Expect: finding "DEVICE POINTER".
#include <stdio.h>

int main() {
  int* d_x;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaMemset(d_x, 0, 32 * sizeof(int));
  cudaDeviceSynchronize();
  printf("%d\n", d_x[3]);  // a cudaMemcpy is missing
  return 0;
}
