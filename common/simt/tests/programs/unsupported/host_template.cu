// Construct: a template of the host, called in a template of a kernel. Expect: unsupported "twice() is a function of the host".
#include <cstdio>

template <class T>
T twice(T x) {
  return 2 * x;
}

template <class T>
__global__ void scale(T* x) {
  x[threadIdx.x] = twice(x[threadIdx.x]);  // unsupported
}

int main() {
  float* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cudaMemset(d_x, 0, 32 * sizeof(float));
  scale<<<1, 32>>>(d_x);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(d_x);
}
