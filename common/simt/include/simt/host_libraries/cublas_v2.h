// cuBLAS: handles, copies, and the functions of vectors, matrices and batches for real numbers, as its documentation has
// them. Each is a launch in the handle's stream (src/libraries): its reads and writes are checked, at the line of the call.
//
// Sums of float, __half and __nv_bfloat16 are sums of float, from the first element to the last one, rounded once to what
// is stored; those of double are double. A GPU adds in another order: the last bits differ.
//
// Not there: complex numbers, integers, triangular, symmetric and banded matrices (trsm, symm, syrk, gbmv), rotations, LU
// and inverses, the functions that end in _64, and cublas.h, the API of before CUDA 4. The compiler refuses them by name
// (common/build/rewriter/unsupported.py).
#pragma once

#include "cuComplex.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "library_types.h"

enum cublasStatus_t {
  CUBLAS_STATUS_SUCCESS = 0,
  CUBLAS_STATUS_NOT_INITIALIZED = 1,
  CUBLAS_STATUS_ALLOC_FAILED = 3,
  CUBLAS_STATUS_INVALID_VALUE = 7,
  CUBLAS_STATUS_ARCH_MISMATCH = 8,
  CUBLAS_STATUS_MAPPING_ERROR = 11,
  CUBLAS_STATUS_EXECUTION_FAILED = 13,
  CUBLAS_STATUS_INTERNAL_ERROR = 14,
  CUBLAS_STATUS_NOT_SUPPORTED = 15,
  CUBLAS_STATUS_LICENSE_ERROR = 16,
};
enum cublasOperation_t { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 };
enum cublasPointerMode_t { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 };
enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 };
enum cublasMath_t {
  CUBLAS_DEFAULT_MATH = 0,
  CUBLAS_TENSOR_OP_MATH = 1,
  CUBLAS_PEDANTIC_MATH = 2,
  CUBLAS_TF32_TENSOR_OP_MATH = 3,
  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16,
};
enum cublasComputeType_t {
  CUBLAS_COMPUTE_16F = 64,
  CUBLAS_COMPUTE_16F_PEDANTIC = 65,
  CUBLAS_COMPUTE_32F = 68,
  CUBLAS_COMPUTE_32F_PEDANTIC = 69,
  CUBLAS_COMPUTE_32F_FAST_16F = 74,
  CUBLAS_COMPUTE_32F_FAST_16BF = 75,
  CUBLAS_COMPUTE_32F_FAST_TF32 = 77,
  CUBLAS_COMPUTE_64F = 70,
  CUBLAS_COMPUTE_64F_PEDANTIC = 71,
};
/// A wish: there is one way to compute a product here.
// clang-format off
enum cublasGemmAlgo_t {
  CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DFALT_TENSOR_OP = 99, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
  CUBLAS_GEMM_ALGO0 = 0, CUBLAS_GEMM_ALGO1 = 1, CUBLAS_GEMM_ALGO2 = 2, CUBLAS_GEMM_ALGO3 = 3,
  CUBLAS_GEMM_ALGO4 = 4, CUBLAS_GEMM_ALGO5 = 5, CUBLAS_GEMM_ALGO6 = 6, CUBLAS_GEMM_ALGO7 = 7,
  CUBLAS_GEMM_ALGO8 = 8, CUBLAS_GEMM_ALGO9 = 9, CUBLAS_GEMM_ALGO10 = 10, CUBLAS_GEMM_ALGO11 = 11,
  CUBLAS_GEMM_ALGO12 = 12, CUBLAS_GEMM_ALGO13 = 13, CUBLAS_GEMM_ALGO14 = 14, CUBLAS_GEMM_ALGO15 = 15,
  CUBLAS_GEMM_ALGO16 = 16, CUBLAS_GEMM_ALGO17 = 17, CUBLAS_GEMM_ALGO18 = 18, CUBLAS_GEMM_ALGO19 = 19,
  CUBLAS_GEMM_ALGO20 = 20, CUBLAS_GEMM_ALGO21 = 21, CUBLAS_GEMM_ALGO22 = 22, CUBLAS_GEMM_ALGO23 = 23,
  CUBLAS_GEMM_ALGO0_TENSOR_OP = 100, CUBLAS_GEMM_ALGO1_TENSOR_OP = 101,
  CUBLAS_GEMM_ALGO2_TENSOR_OP = 102, CUBLAS_GEMM_ALGO3_TENSOR_OP = 103,
  CUBLAS_GEMM_ALGO4_TENSOR_OP = 104, CUBLAS_GEMM_ALGO5_TENSOR_OP = 105,
  CUBLAS_GEMM_ALGO6_TENSOR_OP = 106, CUBLAS_GEMM_ALGO7_TENSOR_OP = 107,
  CUBLAS_GEMM_ALGO8_TENSOR_OP = 108, CUBLAS_GEMM_ALGO9_TENSOR_OP = 109,
  CUBLAS_GEMM_ALGO10_TENSOR_OP = 110, CUBLAS_GEMM_ALGO11_TENSOR_OP = 111,
  CUBLAS_GEMM_ALGO12_TENSOR_OP = 112, CUBLAS_GEMM_ALGO13_TENSOR_OP = 113,
  CUBLAS_GEMM_ALGO14_TENSOR_OP = 114, CUBLAS_GEMM_ALGO15_TENSOR_OP = 115,
};
// clang-format on

struct cublasContext;
using cublasHandle_t = cublasContext*;

// ---- handles ------------------------------------------------------------------------------------

cublasStatus_t cublasCreate(cublasHandle_t* handle);
/// Waits for the device, as cuBLAS does.
cublasStatus_t cublasDestroy(cublasHandle_t handle);
cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version);
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream);
/// Where alpha, beta and results are: with those of the host a function that has a result waits for it.
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode);
// Wishes, which change nothing here.
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode);
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void* workspace, std::size_t size);
const char* cublasGetStatusName(cublasStatus_t status);
const char* cublasGetStatusString(cublasStatus_t status);

// ---- copies between the host and the device -----------------------------------------------------

cublasStatus_t cublasSetVector(int n, int element_size, const void* x, int incx, void* d_y,
                               int incy);
cublasStatus_t cublasGetVector(int n, int element_size, const void* d_x, int incx, void* y,
                               int incy);
cublasStatus_t cublasSetMatrix(int rows, int columns, int element_size, const void* A, int lda,
                               void* d_B, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int columns, int element_size, const void* d_A, int lda,
                               void* B, int ldb);
cublasStatus_t cublasSetVectorAsync(int n, int element_size, const void* x, int incx, void* d_y,
                                    int incy, cudaStream_t stream);
cublasStatus_t cublasGetVectorAsync(int n, int element_size, const void* d_x, int incx, void* y,
                                    int incy, cudaStream_t stream);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int element_size, const void* A, int lda,
                                    void* d_B, int ldb, cudaStream_t stream);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int element_size, const void* d_A,
                                    int lda, void* B, int ldb, cudaStream_t stream);

// ---- vectors, matrices: S is float, D is double, H is __half ------------------------------------

#define SIMT_BLAS_OF_REAL(S, Is, T)                                                              \
  cublasStatus_t cublas##Is##amax(cublasHandle_t handle, int n, const T* x, int incx,            \
                                  int* result);                                                  \
  cublasStatus_t cublas##Is##amin(cublasHandle_t handle, int n, const T* x, int incx,            \
                                  int* result);                                                  \
  cublasStatus_t cublas##S##asum(cublasHandle_t handle, int n, const T* x, int incx, T* result); \
  cublasStatus_t cublas##S##nrm2(cublasHandle_t handle, int n, const T* x, int incx, T* result); \
  cublasStatus_t cublas##S##dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y,  \
                                int incy, T* result);                                            \
  cublasStatus_t cublas##S##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x,       \
                                 int incx, T* y, int incy);                                      \
  cublasStatus_t cublas##S##scal(cublasHandle_t handle, int n, const T* alpha, T* x, int incx);  \
  cublasStatus_t cublas##S##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y,       \
                                 int incy);                                                      \
  cublasStatus_t cublas##S##swap(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy);  \
  cublasStatus_t cublas##S##gemv(cublasHandle_t handle, cublasOperation_t trans, int m, int n,   \
                                 const T* alpha, const T* A, int lda, const T* x, int incx,      \
                                 const T* beta, T* y, int incy);                                 \
  cublasStatus_t cublas##S##ger(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, \
                                int incx, const T* y, int incy, T* A, int lda);                  \
  cublasStatus_t cublas##S##geam(                                                                \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,   \
      const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb, T* C, int ldc);
SIMT_BLAS_OF_REAL(S, Is, float)
SIMT_BLAS_OF_REAL(D, Id, double)
#undef SIMT_BLAS_OF_REAL

// ---- products of matrices -----------------------------------------------------------------------

#define SIMT_BLAS_GEMM(S, T)                                                                    \
  cublasStatus_t cublas##S##gemm(cublasHandle_t handle, cublasOperation_t transa,               \
                                 cublasOperation_t transb, int m, int n, int k, const T* alpha, \
                                 const T* A, int lda, const T* B, int ldb, const T* beta, T* C, \
                                 int ldc);                                                      \
  cublasStatus_t cublas##S##gemmBatched(                                                        \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,  \
      int k, const T* alpha, const T* const A[], int lda, const T* const B[], int ldb,          \
      const T* beta, T* const C[], int ldc, int count);                                         \
  cublasStatus_t cublas##S##gemmStridedBatched(                                                 \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,  \
      int k, const T* alpha, const T* A, int lda, long long stride_a, const T* B, int ldb,      \
      long long stride_b, const T* beta, T* C, int ldc, long long stride_c, int count);
SIMT_BLAS_GEMM(S, float)
SIMT_BLAS_GEMM(D, double)
SIMT_BLAS_GEMM(H, __half)
#undef SIMT_BLAS_GEMM

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, int m, int n, int k, const float* alpha,
                             const void* A, cudaDataType type_a, int lda, const void* B,
                             cudaDataType type_b, int ldb, const float* beta, void* C,
                             cudaDataType type_c, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* A, cudaDataType type_a, int lda, const void* B,
                            cudaDataType type_b, int ldb, const void* beta, void* C,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                   const void* const A[], cudaDataType type_a, int lda,
                                   const void* const B[], cudaDataType type_b, int ldb,
                                   const void* beta, void* const C[], cudaDataType type_c, int ldc,
                                   int count, cublasComputeType_t compute,
                                   cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* A, cudaDataType type_a,
                                          int lda, long long stride_a, const void* B,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* C, cudaDataType type_c, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t algorithm);

namespace simt {
/// What cublasGemmEx() computes with, as programs of before CUDA 11 say it.
constexpr cublasComputeType_t compute_type_of(cudaDataType type) {
  return type == CUDA_R_64F   ? CUBLAS_COMPUTE_64F
         : type == CUDA_R_16F ? CUBLAS_COMPUTE_16F
                              : CUBLAS_COMPUTE_32F;
}
}  // namespace simt
SIMT_TRANSPARENT cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                                             cublasOperation_t transb, int m, int n, int k,
                                             const void* alpha, const void* A, cudaDataType type_a,
                                             int lda, const void* B, cudaDataType type_b, int ldb,
                                             const void* beta, void* C, cudaDataType type_c,
                                             int ldc, cudaDataType compute,
                                             cublasGemmAlgo_t algorithm) {
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, type_a, lda, B, type_b, ldb, beta,
                      C, type_c, ldc, simt::compute_type_of(compute), algorithm);
}
