// Construct: atomics of 32 and of 64 bits on one address. Expect: missed "two atomics of any sizes are no race here".
#include <cstdio>

__global__ void count(unsigned long long* d_total) {
  if (threadIdx.x % 2 == 0) {
    atomicAdd(d_total, 1ull);
  } else {
    atomicAdd(reinterpret_cast<unsigned*>(d_total), 1u);
  }
}

int main() {
  unsigned long long *d_total, total;
  cudaMalloc(&d_total, sizeof total);
  cudaMemset(d_total, 0, sizeof total);
  count<<<2, 64>>>(d_total);
  cudaMemcpy(&total, d_total, sizeof total, cudaMemcpyDeviceToHost);
  std::printf("%llu\n", total);
}
