// Construct: a texture reference, which CUDA 12 removed. Expect: unsupported "texture".
#include <stdio.h>

texture<float, 1, cudaReadModeElementType> image;  // unsupported

__global__ void read(float* out) { out[threadIdx.x] = tex1Dfetch(image, threadIdx.x); }

int main() {
  float *d_x, *d_out;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cudaMalloc(&d_out, 32 * sizeof(float));
  cudaBindTexture(0, image, d_x, 32 * sizeof(float));  // unsupported
  read<<<1, 32>>>(d_out);
  return cudaDeviceSynchronize();
}
