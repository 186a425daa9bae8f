// Construct: all threads draw from one state of cuRAND. Expect: finding "DATA RACE" on d_state.
#include <cstdio>

#include <curand_kernel.h>

constexpr int kThreads = 64;

__global__ void init(curandState* d_state) { curand_init(1234, 0, 0, d_state); }

__global__ void draw(curandState* d_state, float* x) { x[threadIdx.x] = curand_uniform(d_state); }

int main() {
  curandState* d_state;
  float *d_x, x[kThreads];
  cudaMalloc(&d_state, sizeof(curandState));
  cudaMalloc(&d_x, sizeof x);
  init<<<1, 1>>>(d_state);
  draw<<<1, kThreads>>>(d_state, d_x);
  cudaMemcpy(x, d_x, sizeof x, cudaMemcpyDeviceToHost);
  std::printf("%f\n", x[0]);
}
