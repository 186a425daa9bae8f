// Construct: an exception in a function that kernels call. Expect: unsupported "throw in device code".
#include <cstdio>

template <class T>
__device__ T checked(T x) {
  if (x < 0) throw x;  // unsupported
  return x;
}

__global__ void check(int* x) { x[threadIdx.x] = checked(x[threadIdx.x]); }

int main() {
  int* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaMemset(d_x, 0, 32 * sizeof(int));
  try {
    check<<<1, 32>>>(d_x);
    if (cudaDeviceSynchronize() != cudaSuccess) throw 1;
  } catch (int) {
    std::printf("failed\n");
  }
  cudaFree(d_x);
}
