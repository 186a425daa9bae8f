// Construct: a texture that filters. Expect: unsupported "cudaFilterModeLinear".
#include <stdio.h>

__global__ void read(cudaTextureObject_t image, float* out) {
  out[threadIdx.x] = tex2D<float>(image, threadIdx.x + 0.25f, 0.5f);
}

int main() {
  float* d_out;
  cudaArray_t array;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  cudaMalloc(&d_out, 32 * sizeof(float));
  cudaMallocArray(&array, &channels, 32, 4);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t image = 0;
  cudaCreateTextureObject(&image, &resource, &description, nullptr);  // unsupported
  read<<<1, 32>>>(image, d_out);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
