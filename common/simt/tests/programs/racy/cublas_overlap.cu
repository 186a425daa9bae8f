// Construct: a product by cublasDgemm that is written over one of its factors. Expect: finding "DATA RACE in kernel cublasDgemm" on A.
#include <cublas_v2.h>
#include <stdio.h>

int main() {
  const int n = 8;
  double *A, *B, one = 1.0, zero = 0.0;
  cudaMalloc(&A, n * n * sizeof(double));
  cudaMalloc(&B, n * n * sizeof(double));
  cudaMemset(A, 0, n * n * sizeof(double));
  cudaMemset(B, 0, n * n * sizeof(double));
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A, n, B, n, &zero, A, n);
  printf("%d\n", cudaDeviceSynchronize());
  return cublasDestroy(handle);
}
