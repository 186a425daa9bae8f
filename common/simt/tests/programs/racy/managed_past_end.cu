// Construct: the host writes past the end of managed memory. Expect: finding "OUT OF BOUNDS in host code".
#include <cstdio>

__global__ void twice(float* x, int n) {
  if (threadIdx.x < n) x[threadIdx.x] *= 2;
}

int main() {
  const int n = 100;
  float* x;
  cudaMallocManaged(&x, n * sizeof(float));
  for (int i = 0; i <= n; ++i) x[i] = i;
  twice<<<1, 128>>>(x, n);
  cudaDeviceSynchronize();
  std::printf("%.0f\n", x[n - 1]);
  cudaFree(x);
}
