// Construct: kernels and launches in .h and .hpp files. Expect: runs.
#include <stdio.h>

#include "kernels.h"
#include "launch.hpp"

int main() {
  const int n = 75;
  float *d_x, x[n];
  for (int i = 0; i < n; ++i) x[i] = i - 30.0f;
  cudaMalloc(&d_x, sizeof(x));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  launch(clamp_below<float>, n, d_x, n, 0.0f);
  launch(add_index, n, d_x, n);
  cudaMemcpy(x, d_x, sizeof(x), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  for (int i = 0; i < n; ++i) {
    if (x[i] != (i > 30 ? i - 30.0f : 0.0f) + i) return printf("FAILED: x[%d] is %g\n", i, x[i]), 1;
  }
  printf("PASSED\n");
  return 0;
}
