// Construct: an index past the end of one __device__ array that lands in the next one. Expect: missed "no guard lies between such variables".
#include <cstdio>

__device__ int first[4], second[4];

__global__ void fill(int n) {
  for (int i = 0; i <= n; ++i) first[i] = i;  // i < n
}

int main() {
  int values[4];
  fill<<<1, 1>>>(4);
  cudaMemcpyFromSymbol(values, first, sizeof values);
  std::printf("%d\n", values[3]);
}
