// Construct: a function of the host, called in a kernel. Expect: unsupported "push_back() is a function of the host".
#include <cstdio>
#include <vector>

__global__ void collect(std::vector<int>* found, const int* x) {
  if (x[threadIdx.x] > 0) found->push_back(x[threadIdx.x]);  // unsupported
}

int main() {
  std::vector<int>* found = nullptr;
  int* d_x = nullptr;
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaMemset(d_x, 0, 32 * sizeof(int));
  collect<<<1, 32>>>(found, d_x);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(d_x);
}
