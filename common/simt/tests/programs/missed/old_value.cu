// Construct: a reader that polls, and has no fence before it reads a volatile message. Expect: missed "its volatile loads never find an old value".
#include <cstdio>

__global__ void hand_over(volatile int* d_message, volatile int* d_flag, int* d_out) {
  if (blockIdx.x == 0) {
    *d_message = 42;
    __threadfence();
    *d_flag = 1;
  } else {
    while (*d_flag == 0) {
    }
    *d_out = *d_message;  // a GPU may have loaded it before the flag
  }
}

int main() {
  int *d_message, *d_flag, *d_out, out;
  cudaMalloc(&d_message, sizeof(int));
  cudaMalloc(&d_flag, sizeof(int));
  cudaMalloc(&d_out, sizeof(int));
  cudaMemset(d_message, 0, sizeof(int));
  cudaMemset(d_flag, 0, sizeof(int));
  hand_over<<<2, 1>>>(d_message, d_flag, d_out);
  cudaMemcpy(&out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  std::printf("%d\n", out);
}
