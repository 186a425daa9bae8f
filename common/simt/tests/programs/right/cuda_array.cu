// Construct: cudaMallocArray, cudaMemcpy2DToArray, cudaMalloc3DArray, textures over arrays. Expect: runs.
#include <stdio.h>

constexpr int kWidth = 20, kHeight = 8, kDepth = 3;

__global__ void transpose(cudaTextureObject_t image, int* out) {
  out[threadIdx.x * kHeight + blockIdx.x] = tex2D<int>(image, threadIdx.x, blockIdx.x);
}

__global__ void slices(cudaTextureObject_t volume, short2* out) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  out[(z * kHeight + y) * kWidth + x] = tex3D<short2>(volume, x, y, z);
}

__global__ void lookup(cudaTextureObject_t table, float* out) {
  out[threadIdx.x] = tex1D<float>(table, (threadIdx.x + 0.5f) / 32);
}

cudaTextureObject_t over(cudaArray_t array, bool normalised = false) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  for (auto& mode : description.addressMode) mode = cudaAddressModeClamp;
  description.normalizedCoords = normalised;
  cudaTextureObject_t texture = 0;
  cudaCreateTextureObject(&texture, &resource, &description, NULL);
  return texture;
}

int main() {
  static int image[kHeight][kWidth], back[kHeight][kWidth], turned[kWidth][kHeight];
  static short2 volume[kDepth][kHeight][kWidth], copy[kDepth][kHeight][kWidth];
  float table[32], looked_up[32];
  int wrong = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) image[y][x] = 100 * y + x;
  }
  for (int z = 0; z < kDepth; ++z) {
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) volume[z][y][x] = make_short2(z, 100 * y + x);
    }
  }
  for (int i = 0; i < 32; ++i) table[i] = i * i;

  int* d_turned;
  cudaArray_t d_image;
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<int>();
  cudaMalloc(&d_turned, sizeof(turned));
  cudaMallocArray(&d_image, &channels, kWidth, kHeight);
  cudaMemcpy2DToArray(d_image, 0, 0, image, sizeof(image[0]), sizeof(image[0]), kHeight,
                      cudaMemcpyHostToDevice);
  const cudaTextureObject_t texture = over(d_image);
  transpose<<<kHeight, kWidth>>>(texture, d_turned);
  cudaMemcpy(turned, d_turned, sizeof(turned), cudaMemcpyDeviceToHost);
  cudaMemcpy2DFromArray(back, sizeof(back[0]), d_image, 0, 0, sizeof(back[0]), kHeight,
                        cudaMemcpyDeviceToHost);
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x)
      wrong += turned[x][y] != image[y][x] || back[y][x] != image[y][x];
  }
  cudaDestroyTextureObject(texture);

  short2* d_copy;
  cudaArray_t d_volume;
  const cudaChannelFormatDesc pairs = cudaCreateChannelDesc<short2>();
  cudaMalloc(&d_copy, sizeof(copy));
  cudaMalloc3DArray(&d_volume, &pairs, make_cudaExtent(kWidth, kHeight, kDepth));
  cudaMemcpy3DParms parameters = {};
  parameters.srcPtr = make_cudaPitchedPtr(volume, sizeof(volume[0][0]), kWidth, kHeight);
  parameters.dstArray = d_volume;
  parameters.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  parameters.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&parameters);
  const cudaTextureObject_t volume_texture = over(d_volume);
  slices<<<dim3(kHeight, kDepth), kWidth>>>(volume_texture, d_copy);
  cudaMemcpy(copy, d_copy, sizeof(copy), cudaMemcpyDeviceToHost);
  for (int i = 0; i < kDepth * kHeight * kWidth; ++i) {
    const short2 a = copy[0][0][i], b = volume[0][0][i];
    wrong += a.x != b.x || a.y != b.y;
  }
  cudaDestroyTextureObject(volume_texture);

  float* d_looked_up;
  cudaArray_t d_table;
  const cudaChannelFormatDesc floats =
      cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  cudaMalloc(&d_looked_up, sizeof(looked_up));
  cudaMallocArray(&d_table, &floats, 32);
  cudaMemcpyToArray(d_table, 0, 0, table, sizeof(table), cudaMemcpyHostToDevice);
  const cudaTextureObject_t table_texture = over(d_table, true);
  lookup<<<1, 32>>>(table_texture, d_looked_up);
  cudaMemcpy(looked_up, d_looked_up, sizeof(looked_up), cudaMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i) wrong += looked_up[i] != table[i];
  cudaDestroyTextureObject(table_texture);

  cudaFreeArray(d_image);
  cudaFreeArray(d_volume);
  cudaFreeArray(d_table);
  cudaFree(d_turned);
  cudaFree(d_copy);
  cudaFree(d_looked_up);
  if (wrong > 0 || cudaGetLastError() != cudaSuccess) return printf("FAILED: %d\n", wrong), 1;
  printf("PASSED\n");
  return 0;
}
