// Construct: a volatile flag announces data that no fence orders. Expect: finding "DATA RACE" on d_message.
#include <cstdio>

__global__ void exchange(int* d_message, volatile int* d_ready, int* d_out) {
  if (blockIdx.x == 0) {
    d_message[0] = 42;
    *d_ready = 1;
  } else {
    while (*d_ready == 0) {
    }
    *d_out = d_message[0];
  }
}

int main() {
  int* d_all;
  cudaMalloc(&d_all, 3 * sizeof(int));
  cudaMemset(d_all, 0, 3 * sizeof(int));
  int *d_message = d_all, *d_ready = d_all + 1, *d_out = d_all + 2, out = 0;
  exchange<<<2, 1>>>(d_message, d_ready, d_out);
  cudaMemcpy(&out, d_out, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", out);
}
