// Construct: a generator of cuRAND that is neither XORWOW nor Philox. Expect: unsupported "curandStateMRG32k3a_t of cuRAND".
#include <stdio.h>

#include <curand_kernel.h>

__global__ void draw(float* x) {
  curandStateMRG32k3a_t state;  // unsupported
  curand_init(1234, threadIdx.x, 0, &state);
  x[threadIdx.x] = curand_uniform(&state);
}

int main() {
  float* d_x;
  cudaMalloc(&d_x, 32 * sizeof(float));
  draw<<<1, 32>>>(d_x);
  return cudaDeviceSynchronize();
}
