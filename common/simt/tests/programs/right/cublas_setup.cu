// Construct: cuBLAS handles that a shared header makes, and angles of a launch taken apart. Expect: runs.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>

static cublasHandle_t blas;
static cublasLtHandle_t blas_lt;

void cublasCheck(cublasStatus_t status, const char* file, int line) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    printf("cuBLAS: %d at %s:%d\n", status, file, line);
    exit(EXIT_FAILURE);
  }
}
#define cublasCheck(status) cublasCheck((status), __FILE__, __LINE__)

void set_up() {
  cublasCheck(cublasCreate(&blas));
  cublasCheck(cublasLtCreate(&blas_lt));
  cublasCheck(cublasSetMathMode(blas, CUBLAS_TF32_TENSOR_OP_MATH));
}

__global__ void scale(__nv_bfloat16* x, float a) {
  x[threadIdx.x] = (__nv_bfloat16)(a * (float)x[threadIdx.x]);
}

int main() {
  set_up();
  __nv_bfloat16 x[32], *d_x;
  for (int i = 0; i < 32; ++i) x[i] = (float)i;
  cudaMalloc(&d_x, sizeof(x));
  cudaMemcpy(d_x, x, sizeof(x), cudaMemcpyHostToDevice);
  // clang-format off
  scale << <1, 32 >> > (d_x, 2.0f);
  // clang-format on
  cudaMemcpy(x, d_x, sizeof(x), cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  cublasCheck(cublasDestroy(blas));
  cublasCheck(cublasLtDestroy(blas_lt));
  for (int i = 0; i < 32; ++i) {
    if ((float)x[i] != 2 * i) return printf("FAILED at %d\n", i), 1;
  }
  printf("PASSED\n");
  return 0;
}
