// Construct: __constant__ and __device__ variables, cudaMemcpyToSymbol and cudaMemcpyFromSymbol. Expect: runs.
#include <cstdio>

struct Sphere {
  float x, y, radius;
};

constexpr int kSpheres = 5, kSize = 24;
__constant__ Sphere spheres[kSpheres];
__constant__ float scale = 2.0f;
__device__ int hits;
static __device__ unsigned int rays[2];

__global__ void trace(unsigned char* image) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  unsigned char shade = 0;
  for (int i = 0; i < kSpheres; ++i) {
    const float dx = x * scale - spheres[i].x, dy = y * scale - spheres[i].y;
    if (dx * dx + dy * dy < spheres[i].radius * spheres[i].radius) shade = i + 1;
  }
  image[y * kSize + x] = shade;
  if (shade != 0) atomicAdd(&hits, 1);
  atomicInc(&rays[y % 2], 0xffffffffu);
}

int main() {
  Sphere host[kSpheres];
  for (int i = 0; i < kSpheres; ++i) host[i] = {8.0f * i + 4, 40.0f - 7 * i, 5.0f + i};
  const int zero = 0;
  cudaMemcpyToSymbol(spheres, host, sizeof(host));
  cudaMemcpyToSymbol(hits, &zero, sizeof(zero));
  unsigned char *d_image, image[kSize * kSize];
  cudaMalloc(&d_image, sizeof(image));
  trace<<<dim3(3, 6), dim3(8, 4)>>>(d_image);
  int counted = -1;
  unsigned int odd_rays = 0;
  cudaMemcpyFromSymbol(&counted, hits, sizeof(counted));
  cudaMemcpyFromSymbol(&odd_rays, rays, sizeof(odd_rays), sizeof(odd_rays));
  cudaMemcpy(image, d_image, sizeof(image), cudaMemcpyDeviceToHost);

  int wrong = 0, expected_hits = 0;
  for (int i = 0; i < kSize * kSize; ++i) {
    int shade = 0;
    for (int s = 0; s < kSpheres; ++s) {
      const float dx = i % kSize * 2.0f - host[s].x, dy = i / kSize * 2.0f - host[s].y;
      if (dx * dx + dy * dy < host[s].radius * host[s].radius) shade = s + 1;
    }
    wrong += image[i] != shade;
    expected_hits += shade != 0;
  }
  const bool right = wrong == 0 && counted == expected_hits && odd_rays == kSize * kSize / 2;
  std::printf("%s\n", right ? "PASSED" : "FAILED");
  return right ? 0 : 1;
}
