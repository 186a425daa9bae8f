// Construct: a write past the end of a local array. Expect: missed "a thread's own variables have no guards".
#include <cstdio>

__global__ void tally(const int* d_x, int n, int* d_y) {
  int counts[4] = {};
  for (int i = 0; i < n; ++i) ++counts[d_x[i]];  // d_x[i] may be 4
  for (int k = 0; k < 4; ++k) d_y[k] = counts[k];
}

int main() {
  const int x[] = {0, 3, 4, 1};
  int *d_x, *d_y, y[4];
  cudaMalloc(&d_x, sizeof x);
  cudaMalloc(&d_y, sizeof y);
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  tally<<<1, 1>>>(d_x, 4, d_y);
  cudaMemcpy(y, d_y, sizeof y, cudaMemcpyDeviceToHost);
  std::printf("%d %d %d %d\n", y[0], y[1], y[2], y[3]);
}
