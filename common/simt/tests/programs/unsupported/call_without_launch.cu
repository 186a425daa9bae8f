// Construct: a kernel that is called as a function. Expect: unsupported "clear is a kernel, and a kernel is launched".
#include <cstdio>

__global__ void clear(int* x) { x[threadIdx.x] = 0; }

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  clear(d_x);  // unsupported
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(d_x);
}
