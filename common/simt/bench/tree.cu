// What the checker costs: one million floats through a tree in shared memory, block by block.
// Prints seconds under the default schedule and under a seeded one, and the most memory the process
// used.
#include <cuda_runtime.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "simt/testing.hpp"

namespace {

constexpr int kElements = 1'000'000, kBlock = 128, kRuns = 3;

__global__ void sum_shared_tree(const float* x, float* total, int n) {
  extern __shared__ float s_x[];
  const unsigned t = threadIdx.x;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + t);
  s_x[t] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
    if (t < offset) s_x[t] += s_x[t + offset];
    __syncthreads();
  }
  if (t == 0) atomicAdd(total, s_x[0]);
}

/// Seconds of CPU time of the fastest of three launches: other programs do not count.
double seconds(const float* x, float* total) {
  double best = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    cudaMemset(total, 0, sizeof(float));
    cudaDeviceSynchronize();
    const std::clock_t start = std::clock();
    sum_shared_tree<<<(kElements + kBlock - 1) / kBlock, kBlock, kBlock * sizeof(float)>>>(
        x, total, kElements);
    cudaDeviceSynchronize();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    float sum = 0;
    cudaMemcpy(&sum, total, sizeof(float), cudaMemcpyDeviceToHost);
    if (sum != kElements) {
      std::fprintf(stderr, "wrong sum: %g\n", sum);
      std::exit(1);
    }
  }
  return best;
}

}  // namespace

int main() {
  const std::vector<float> ones(kElements, 1.0f);
  float *x = nullptr, *total = nullptr;
  cudaMalloc(&x, kElements * sizeof(float));
  cudaMalloc(&total, sizeof(float));
  cudaMemcpy(x, ones.data(), kElements * sizeof(float), cudaMemcpyHostToDevice);

  simt::set_seed(0);
  std::printf("default schedule: %.2f s\n", seconds(x, total));
  simt::set_seed(1);
  std::printf("seeded schedule:  %.2f s\n", seconds(x, total));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("peak memory:      %ld MB\n", usage.ru_maxrss / 1024);
}
