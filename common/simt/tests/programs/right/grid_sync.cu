// Construct: a cooperative launch with grid.sync(), barrier_arrive() and barrier_wait(). Expect: runs.
#include <cooperative_groups.h>
#include <stdio.h>
#include <stdlib.h>

namespace cg = cooperative_groups;

// Every round needs what all blocks wrote in the round before.
__global__ void diffuse(float* x, float* y, int n, int rounds) {
  cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < rounds; ++round) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
      int left = (i + n - 1) % n, right = (i + 1) % n;
      y[i] = 0.5f * x[i] + 0.25f * (x[left] + x[right]);
    }
    if (round % 2 == 0) {
      grid.sync();
    } else {
      cg::grid_group::arrival_token token = grid.barrier_arrive();
      grid.barrier_wait(static_cast<cg::grid_group::arrival_token&&>(token));
    }
    float* swapped = x;
    x = y;
    y = swapped;
  }
}

int main() {
  int n = 300, rounds = 4, device = 0, supported = 0, per_sm = 0;
  cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, diffuse, 64, 0);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, device);
  int blocks = per_sm * properties.multiProcessorCount < 6 ? 1 : 6;
  if (!supported) return printf("this device has no cooperative launch\n"), 1;

  float *x = (float*)malloc(n * sizeof(float)), *y = (float*)malloc(n * sizeof(float)), *d_x, *d_y;
  for (int i = 0; i < n; ++i) x[i] = (float)(i % 10);
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_y, n * sizeof(float));
  cudaMemcpy(d_x, x, n * sizeof(float), cudaMemcpyHostToDevice);
  void* arguments[] = {&d_x, &d_y, &n, &rounds};
  cudaError_t error =
      cudaLaunchCooperativeKernel((void*)diffuse, dim3(blocks), dim3(64), arguments);
  if (error != cudaSuccess) return printf("FAILED: %s\n", cudaGetErrorString(error)), 1;
  float result[300];
  cudaMemcpy(result, d_x, n * sizeof(float), cudaMemcpyDeviceToHost);

  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < n; ++i) y[i] = 0.5f * x[i] + 0.25f * (x[(i + n - 1) % n] + x[(i + 1) % n]);
    float* swapped = x;
    x = y;
    y = swapped;
  }
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += !(result[i] - x[i] < 1e-5f && x[i] - result[i] < 1e-5f);
  printf("%s\n", wrong == 0 ? "PASSED" : "FAILED");
  return wrong != 0;
}
