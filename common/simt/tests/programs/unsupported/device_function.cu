// Construct: a function of the device, called on the host. Expect: unsupported "twice() is a function of the device".
#include <cstdio>

__device__ int twice(int x) { return 2 * x; }

__global__ void scale(int* x) { x[threadIdx.x] = twice(x[threadIdx.x]); }

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaMemset(d_x, 0, 32 * sizeof(int));
  scale<<<1, 32>>>(d_x);
  std::printf("%s %d\n", cudaGetErrorString(cudaDeviceSynchronize()), twice(1));  // unsupported
  cudaFree(d_x);
}
