// Construct: output ranges of two blocks that overlap by one element. Expect: finding "DATA RACE" on d_out.
#include <cstdio>

__global__ void fill(int* d_out, int per_block, int n) {
  const int first = blockIdx.x * per_block;
  for (int i = first + threadIdx.x; i <= first + per_block && i < n; i += blockDim.x)
    d_out[i] = blockIdx.x;
}

int main() {
  const int n = 80;
  int out[n], *d_out;
  cudaMalloc(&d_out, sizeof(out));
  fill<<<4, 16>>>(d_out, n / 4, n);
  cudaMemcpy(out, d_out, sizeof(out), cudaMemcpyDeviceToHost);
  std::printf("%d %d\n", out[0], out[n - 1]);
}
