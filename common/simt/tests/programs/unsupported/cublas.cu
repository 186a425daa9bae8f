// Construct: of cuBLAS triangular, symmetric and complex matrices. Expect: unsupported "cublasStrsm of cuBLAS: use the functions of real numbers".
#include <cublas_v2.h>
#include <stdio.h>

int main() {
  cublasHandle_t handle;
  float *d_a, *d_b, one = 1.0f;
  cudaMalloc(&d_a, 32 * 32 * sizeof(float));
  cudaMalloc(&d_b, 32 * sizeof(float));
  cublasCreate(&handle);
  cublasSaxpy(handle, 32, &one, d_a, 1, d_b, 1);
  cublasStrsm(handle, 0, 0, 0, 0, 32, 1, &one, d_a, 32, d_b, 32);  // unsupported
  cublasDestroy(handle);
  return 0;
}
