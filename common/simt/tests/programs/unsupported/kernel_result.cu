// Construct: a kernel that returns a value. Expect: unsupported "a kernel that returns a value".
#include <cstdio>

using Sum = float;

__global__ Sum add_up(const float* x, int n) {  // unsupported
  Sum sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  return sum;
}

int main() {
  float* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cudaMemset(d_x, 0, 32 * sizeof(float));
  add_up<<<1, 1>>>(d_x, 32);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(d_x);
}
