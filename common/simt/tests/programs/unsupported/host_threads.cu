// Construct: several threads of the host that call the CUDA runtime. Expect: unsupported "second thread of the host".
#include <stdio.h>

#include <thread>
#include <vector>

__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }

void work(int id) {
  int* d_x;
  cudaMalloc(&d_x, 32 * sizeof(int));  // unsupported
  fill<<<1, 32>>>(d_x, id);
  cudaFree(d_x);
}

int main() {
  cudaSetDevice(0);
  std::vector<std::thread> threads;
  for (int id = 0; id < 8; ++id) threads.emplace_back(work, id);
  for (std::thread& thread : threads) thread.join();
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
