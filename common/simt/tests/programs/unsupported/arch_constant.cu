// Construct: a constant that __CUDA_ARCH__ chooses outside of functions, in a kernel. Expect: unsupported "a constant that __CUDA_ARCH__ chooses".
#include <stdio.h>

#if __CUDA_ARCH__ >= 800
constexpr int kPerThread = 8;
#else
constexpr int kPerThread = 4;  // unsupported
#endif

__global__ void ask(int* y) { *y = kPerThread; }

int main() {
  int *d_y, y;
  cudaMalloc(&d_y, sizeof(int));
  ask<<<1, 1>>>(d_y);
  cudaMemcpy(&y, d_y, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d on the device, %d on the host\n", y, kPerThread);
  cudaFree(d_y);
  return 0;
}
