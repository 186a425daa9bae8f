// Construct: cublasSgemm with the rows of A where its leading dimension belongs. Expect: finding "OUT OF BOUNDS" on B.
#include <cublas_v2.h>
#include <stdio.h>

// The host has rows: C = A * B by rows is C = B * A by columns. What cuBLAS calls B is A, whose leading dimension is k.
int main() {
  const int m = 64, n = 16, k = 32;
  float *A, *B, *C, one = 1.0f, zero = 0.0f;
  cudaMalloc(&A, m * k * sizeof(float));
  cudaMalloc(&B, k * n * sizeof(float));
  cudaMalloc(&C, m * n * sizeof(float));
  cudaMemset(A, 0, m * k * sizeof(float));
  cudaMemset(B, 0, k * n * sizeof(float));
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, B, n, A, m, &zero, C, n);
  printf("%d\n", cudaDeviceSynchronize());
  return cublasDestroy(handle);
}
