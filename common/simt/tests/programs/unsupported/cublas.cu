// Construct: cuBLAS. Expect: unsupported "cublasSaxpy of cuBLAS: replace it by".
#include <cublas_v2.h>
#include <stdio.h>

int main() {
  cublasHandle_t handle;
  float *d_x, *d_y, a = 2.0f;
  cudaMalloc(&d_x, 32 * sizeof(float));
  cudaMalloc(&d_y, 32 * sizeof(float));
  cublasCreate(&handle);
  cublasSaxpy(handle, 32, &a, d_x, 1, d_y, 1);  // unsupported
  cublasDestroy(handle);
  return 0;
}
