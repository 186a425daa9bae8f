// Construct: a sort in shared memory, and over global memory with one launch per step. Expect: runs.
#include <algorithm>
#include <cstdio>
#include <vector>

__device__ __forceinline__ void order(int& a, int& b, bool up) {
  if ((a > b) == up) {
    const int kept = a;
    a = b;
    b = kept;
  }
}

__global__ void sort_block(int* x) {
  extern __shared__ int s_x[];
  const int t = threadIdx.x, n = blockDim.x;
  s_x[t] = x[t];
  for (int size = 2; size <= n; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int partner = t ^ stride;
      if (partner > t) order(s_x[t], s_x[partner], (t & size) == 0);
    }
  }
  __syncthreads();
  x[t] = s_x[t];
}

__global__ void step(int* x, int size, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, partner = i ^ stride;
  if (partner > i) order(x[i], x[partner], (i & size) == 0);
}

int main() {
  const int n = 128;
  std::vector<int> x(n), once(n), many(n);
  unsigned random = 12345;
  for (int& value : x) value = (random = random * 1664525u + 1013904223u) >> 20;
  int* d_x;
  cudaMalloc(&d_x, n * sizeof(int));
  cudaMemcpy(d_x, x.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  sort_block<<<1, n, n * sizeof(int)>>>(d_x);
  cudaMemcpy(once.data(), d_x, n * sizeof(int), cudaMemcpyDeviceToHost);

  cudaMemcpy(d_x, x.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (int size = 2; size <= n; size <<= 1) {
    for (int stride = size >> 1; stride > 0; stride >>= 1) step<<<n / 32, 32>>>(d_x, size, stride);
  }
  cudaMemcpy(many.data(), d_x, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  std::sort(x.begin(), x.end());
  const bool right = once == x && many == x;
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
