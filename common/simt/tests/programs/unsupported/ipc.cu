// Construct: memory shared between processes. Expect: unsupported "cudaIpc".
#include <stdio.h>

int main() {
  int* d_x;
  cudaIpcMemHandle_t handle;  // unsupported
  cudaMalloc(&d_x, 32 * sizeof(int));
  cudaError_t error = cudaIpcGetMemHandle(&handle, d_x);  // unsupported
  printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
