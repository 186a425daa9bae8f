// Construct: a texture over memory that the same launch writes. Expect: finding "TEXTURE OF WRITTEN MEMORY" on d_x.
#include <stdio.h>

__global__ void smooth(cudaTextureObject_t x, float* out) {
  const int i = threadIdx.x;
  const float left = tex1Dfetch<float>(x, i == 0 ? 0 : i - 1), here = tex1Dfetch<float>(x, i);
  __syncthreads();
  out[i] = 0.5f * (left + here);
}

int main() {
  float* d_x;
  cudaMalloc(&d_x, 64 * sizeof(float));
  cudaMemset(d_x, 0, 64 * sizeof(float));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = d_x;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 64 * sizeof(float);
  cudaTextureDesc description = {};
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  smooth<<<1, 64>>>(texture, d_x);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaDestroyTextureObject(texture);
  cudaFree(d_x);
  return 0;
}
