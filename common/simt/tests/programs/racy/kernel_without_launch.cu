// Construct: a kernel that a helper calls through a pointer, without <<<>>>. Expect: finding "KERNEL CALLED WITHOUT A LAUNCH".
#include <stdio.h>

__global__ void fill(int* x) { x[threadIdx.x] = 7; }

template <class Kernel, class... Args>
void repeat(int times, Kernel kernel, Args... args) {
  for (int i = 0; i < times; ++i) kernel(args...);
}

int main() {
  int* x;
  cudaMallocManaged(&x, 32 * sizeof(int));
  x[0] = 0;
  repeat(3, fill, x);
  cudaDeviceSynchronize();
  printf("%d\n", x[0]);
  return 0;
}
