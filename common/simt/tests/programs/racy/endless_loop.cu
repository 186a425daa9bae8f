// Construct: a block waits for one that never sets the flag. Expect: finding "ENDLESS LOOP".
#include <cstdio>

__global__ void wait(volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  int* d_flag;
  cudaMalloc(&d_flag, sizeof(int));
  cudaMemset(d_flag, 0, sizeof(int));
  wait<<<1, 32>>>(d_flag);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
