typedef unsigned long Mask;  // as X11 has them, before CUDA's header

#include "wave.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#ifdef __CUDACC__
#error "this is plain C++"
#endif

int main() {
  const int n = 70;
  const Mask everything = ~Mask{0};
  std::vector<float> x(n);
  float* d_x = nullptr;
  cudaMalloc(&d_x, n * sizeof(float));
  const bool launched = launch_wave(d_x, n);
  cudaMemcpy(x.data(), d_x, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  int wrong = !launched || everything == 0;
  for (int i = 0; i < n; ++i) wrong += x[i] != i % 4 - 1.5f;
  std::printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}
