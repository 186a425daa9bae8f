// Construct: members of an int2 whose address is no multiple of 8, read one by one. Expect: finding "MISALIGNED" on values.
#include <cstdio>

__global__ void add_members(const int* values, int* sum) {
  const int2* const pair = reinterpret_cast<const int2*>(values + 1);
  *sum = pair->x + pair->y;
}

int main() {
  int *values, *sum, result;
  cudaMalloc(&values, 4 * sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(values, 0, 4 * sizeof(int));
  add_members<<<1, 1>>>(values, sum);
  cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
  cudaFree(values);
  cudaFree(sum);
}
