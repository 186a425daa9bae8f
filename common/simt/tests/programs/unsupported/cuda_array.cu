// Construct: cudaArray and copies into it. Expect: unsupported "cudaArray".
#include <stdio.h>

int main() {
  float x[64] = {0};
  cudaArray_t image;  // unsupported
  cudaMallocArray(&image, nullptr, 8, 8);
  cudaMemcpy2DToArray(image, 0, 0, x, 8 * sizeof(float), 8 * sizeof(float), 8,
                      cudaMemcpyHostToDevice);
  printf("%s\n", cudaGetErrorString(cudaFreeArray(image)));
  return 0;
}
