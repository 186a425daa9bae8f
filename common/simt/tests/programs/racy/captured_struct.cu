// Construct: a lambda that captures a struct by value while its owner fills it. Expect: finding "DATA RACE" on s_best.
#include <stdio.h>

struct Best {
  float value;
  int index;
};

__global__ void above(const float* x, int* y, int n) {
  __shared__ Best s_best;
  const int i = threadIdx.x;
  if (i == 0) {
    Best best{x[0], 0};
    for (int k = 1; k < n; ++k) {
      if (x[k] > best.value) best = Best{x[k], k};
    }
    s_best = best;
  }
  // __syncthreads() is missing
  auto distance = [best = s_best](int k) { return best.index - k; };
  if (i < n) y[i] = distance(i);
}

int main() {
  const int n = 64;
  float* x;
  int* y;
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(int));
  for (int i = 0; i < n; ++i) x[i] = (i * 37) % n;
  above<<<1, n>>>(x, y, n);
  cudaDeviceSynchronize();
  printf("%d\n", y[0]);
  cudaFree(x);
  cudaFree(y);
  return 0;
}
