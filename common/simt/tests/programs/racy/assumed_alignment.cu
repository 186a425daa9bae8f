// Construct: __builtin_assume_aligned() of an address that is not aligned so. Expect: finding "MISALIGNED" on values.
#include <cstdio>

__global__ void add_four(const float* values, float* sum, int first) {
  const float* const four = static_cast<const float*>(__builtin_assume_aligned(values + first, 16));
  *sum = four[0] + four[1] + four[2] + four[3];
}

int main() {
  float *values, *sum, result;
  cudaMalloc(&values, 8 * sizeof(float));
  cudaMalloc(&sum, sizeof(float));
  cudaMemset(values, 0, 8 * sizeof(float));
  add_four<<<1, 1>>>(values, sum, 4);
  add_four<<<1, 1>>>(values, sum, 2);
  cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%g\n", result);
  cudaFree(values);
  cudaFree(sum);
}
