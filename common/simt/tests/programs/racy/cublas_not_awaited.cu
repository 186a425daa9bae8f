// Construct: the host reads what cublasSgemv may still compute. Expect: finding "DATA RACE of the host" on y.
#include <cublas_v2.h>
#include <stdio.h>

int main() {
  const int n = 32;
  float *A, *x, *y, one = 1.0f, zero = 0.0f;
  cudaMallocManaged(&A, n * n * sizeof(float));
  cudaMallocManaged(&x, n * sizeof(float));
  cudaMallocManaged(&y, n * sizeof(float));
  for (int i = 0; i < n * n; ++i) A[i] = 1;
  for (int i = 0; i < n; ++i) x[i] = i;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSgemv(handle, CUBLAS_OP_N, n, n, &one, A, n, x, 1, &zero, y, 1);
  printf("%f\n", y[0]);
  return cublasDestroy(handle);
}
