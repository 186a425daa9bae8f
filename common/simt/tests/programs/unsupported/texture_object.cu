// Construct: texture objects. Expect: unsupported "texture".
#include <stdio.h>

__global__ void read(cudaTextureObject_t image, float* out) {  // unsupported
  out[threadIdx.x] = tex1Dfetch<float>(image, threadIdx.x);
}

int main() {
  float *d_x, *d_out;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cudaMalloc(&d_out, 32 * sizeof(float));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_x;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 32 * sizeof(float);
  cudaTextureDesc description = {};
  cudaTextureObject_t image = 0;
  cudaCreateTextureObject(&image, &resource, &description, nullptr);
  read<<<1, 32>>>(image, d_out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
