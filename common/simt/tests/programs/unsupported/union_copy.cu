// Construct: the copy of a union with a float4 in it. Expect: unsupported "copy of a union".
#include <stdio.h>

union Pack {
  float4 vector;
  float items[4];
};

__global__ void scale(Pack* x, float factor) {
  Pack pack;
  pack.vector = x[threadIdx.x].vector;
  for (float& item : pack.items) item *= factor;
  x[threadIdx.x] = pack;  // unsupported
}

int main() {
  Pack* x;
  cudaMallocManaged(&x, 32 * sizeof(Pack));
  for (int i = 0; i < 32; ++i) x[i].vector = make_float4(i, i, i, i);
  scale<<<1, 32>>>(x, 2);
  cudaDeviceSynchronize();
  printf("%s\n", x[3].items[2] == 6 ? "PASSED" : "FAILED");
  cudaFree(x);
  return 0;
}
