// Construct: cuRAND in a kernel. Expect: unsupported "curandState of cuRAND".
#include <stdio.h>

#include <curand_kernel.h>

__global__ void draw(float* x) {
  curandState state;  // unsupported
  curand_init(1234, threadIdx.x, 0, &state);
  x[threadIdx.x] = curand_uniform(&state);
}

int main() {
  float* d_x;
  cudaMalloc(&d_x, 32 * sizeof(float));
  draw<<<1, 32>>>(d_x);
  return cudaDeviceSynchronize();
}
