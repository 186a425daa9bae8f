// Construct: surface objects. Expect: unsupported "surface".
#include <stdio.h>

__global__ void fill(cudaSurfaceObject_t image, int width) {  // unsupported
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < width) surf2Dwrite(1.0f, image, x * (int)sizeof(float), 0);  // unsupported
}

int main() {
  cudaSurfaceObject_t image = 0;
  fill<<<1, 32>>>(image, 32);
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  return 0;
}
