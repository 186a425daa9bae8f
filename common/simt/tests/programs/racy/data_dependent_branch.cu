// Construct: a race that only one value of the input leads to. Expect: finding "DATA RACE" on d_error.
#include <cstdio>

__global__ void divide(const float* a, const float* b, float* c, int n, int* d_error) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (b[i] == 0.0f) {
    *d_error = i;  // which one stays?
    c[i] = 0.0f;
  } else {
    c[i] = a[i] / b[i];
  }
}

int main() {
  const int n = 100;
  float b[n], *d_a, *d_b, *d_c;
  for (int i = 0; i < n; ++i) b[i] = i % 33 - 5;
  int error = -1, *d_error;
  cudaMalloc(&d_a, sizeof(b));
  cudaMalloc(&d_b, sizeof(b));
  cudaMalloc(&d_c, sizeof(b));
  cudaMalloc(&d_error, sizeof(int));
  cudaMemset(d_a, 0, sizeof(b));
  cudaMemcpy(d_b, b, sizeof(b), cudaMemcpyHostToDevice);
  divide<<<2, 64>>>(d_a, d_b, d_c, n, d_error);
  cudaMemcpy(&error, d_error, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", error);
}
