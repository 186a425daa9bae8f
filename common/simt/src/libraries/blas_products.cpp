// cuBLAS: the functions that multiply matrices.
#include "libraries/gemm.hpp"

namespace simt {
namespace {

cublasStatus_t multiply_with(cublasHandle_t handle, const LibraryCall& call, Product product) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  product.pointers = handle->pointers;
  product.d = product.c;
  return multiply(call, product);
}

template <class T>
constexpr cudaDataType kTypeOf = CUDA_R_16F;
template <>
constexpr cudaDataType kTypeOf<float> = CUDA_R_32F;
template <>
constexpr cudaDataType kTypeOf<double> = CUDA_R_64F;

}  // namespace
}  // namespace simt

#define SIMT_BLAS_GEMM(S, T, kind)                                                              \
  cublasStatus_t cublas##S##gemm(cublasHandle_t handle, cublasOperation_t transa,               \
                                 cublasOperation_t transb, int m, int n, int k, const T* alpha, \
                                 const T* A, int lda, const T* B, int ldb, const T* beta, T* C, \
                                 int ldc) {                                                     \
    return simt::multiply_with(handle, SIMT_BLAS_CALL("cublas" #S "gemm"),                      \
                               {.m = m,                                                         \
                                .n = n,                                                         \
                                .k = k,                                                         \
                                .a = {A, simt::kTypeOf<T>, lda, 0, transa},                     \
                                .b = {B, simt::kTypeOf<T>, ldb, 0, transb},                     \
                                .c = {C, simt::kTypeOf<T>, ldc},                                \
                                .alpha = alpha,                                                 \
                                .beta = beta,                                                   \
                                .compute = kind});                                              \
  }                                                                                             \
  cublasStatus_t cublas##S##gemmBatched(                                                        \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,  \
      int k, const T* alpha, const T* const A[], int lda, const T* const B[], int ldb,          \
      const T* beta, T* const C[], int ldc, int count) {                                        \
    return simt::multiply_with(handle, SIMT_BLAS_CALL("cublas" #S "gemmBatched"),               \
                               {.m = m,                                                         \
                                .n = n,                                                         \
                                .k = k,                                                         \
                                .a = {A, simt::kTypeOf<T>, lda, 0, transa},                     \
                                .b = {B, simt::kTypeOf<T>, ldb, 0, transb},                     \
                                .c = {C, simt::kTypeOf<T>, ldc},                                \
                                .alpha = alpha,                                                 \
                                .beta = beta,                                                   \
                                .compute = kind,                                                \
                                .count = count,                                                 \
                                .is_list = true});                                              \
  }                                                                                             \
  cublasStatus_t cublas##S##gemmStridedBatched(                                                 \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,  \
      int k, const T* alpha, const T* A, int lda, long long stride_a, const T* B, int ldb,      \
      long long stride_b, const T* beta, T* C, int ldc, long long stride_c, int count) {        \
    return simt::multiply_with(handle, SIMT_BLAS_CALL("cublas" #S "gemmStridedBatched"),        \
                               {.m = m,                                                         \
                                .n = n,                                                         \
                                .k = k,                                                         \
                                .a = {A, simt::kTypeOf<T>, lda, stride_a, transa},              \
                                .b = {B, simt::kTypeOf<T>, ldb, stride_b, transb},              \
                                .c = {C, simt::kTypeOf<T>, ldc, stride_c},                      \
                                .alpha = alpha,                                                 \
                                .beta = beta,                                                   \
                                .compute = kind,                                                \
                                .count = count});                                               \
  }
SIMT_BLAS_GEMM(S, float, CUBLAS_COMPUTE_32F)
SIMT_BLAS_GEMM(D, double, CUBLAS_COMPUTE_64F)
SIMT_BLAS_GEMM(H, __half, CUBLAS_COMPUTE_16F)
#undef SIMT_BLAS_GEMM

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, int m, int n, int k, const float* alpha,
                             const void* A, cudaDataType type_a, int lda, const void* B,
                             cudaDataType type_b, int ldb, const float* beta, void* C,
                             cudaDataType type_c, int ldc) {
  return simt::multiply_with(handle, SIMT_BLAS_CALL("cublasSgemmEx"),
                             {.m = m,
                              .n = n,
                              .k = k,
                              .a = {A, type_a, lda, 0, transa},
                              .b = {B, type_b, ldb, 0, transb},
                              .c = {C, type_c, ldc},
                              .alpha = alpha,
                              .beta = beta,
                              .compute = CUBLAS_COMPUTE_32F});
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* A, cudaDataType type_a, int lda, const void* B,
                            cudaDataType type_b, int ldb, const void* beta, void* C,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t) {
  return simt::multiply_with(handle, SIMT_BLAS_CALL("cublasGemmEx"),
                             {.m = m,
                              .n = n,
                              .k = k,
                              .a = {A, type_a, lda, 0, transa},
                              .b = {B, type_b, ldb, 0, transb},
                              .c = {C, type_c, ldc},
                              .alpha = alpha,
                              .beta = beta,
                              .compute = compute});
}
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                   cublasOperation_t transb, int m, int n, int k, const void* alpha,
                                   const void* const A[], cudaDataType type_a, int lda,
                                   const void* const B[], cudaDataType type_b, int ldb,
                                   const void* beta, void* const C[], cudaDataType type_c, int ldc,
                                   int count, cublasComputeType_t compute, cublasGemmAlgo_t) {
  return simt::multiply_with(handle, SIMT_BLAS_CALL("cublasGemmBatchedEx"),
                             {.m = m,
                              .n = n,
                              .k = k,
                              .a = {A, type_a, lda, 0, transa},
                              .b = {B, type_b, ldb, 0, transb},
                              .c = {C, type_c, ldc},
                              .alpha = alpha,
                              .beta = beta,
                              .compute = compute,
                              .count = count,
                              .is_list = true});
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa,
                                          cublasOperation_t transb, int m, int n, int k,
                                          const void* alpha, const void* A, cudaDataType type_a,
                                          int lda, long long stride_a, const void* B,
                                          cudaDataType type_b, int ldb, long long stride_b,
                                          const void* beta, void* C, cudaDataType type_c, int ldc,
                                          long long stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
  return simt::multiply_with(handle, SIMT_BLAS_CALL("cublasGemmStridedBatchedEx"),
                             {.m = m,
                              .n = n,
                              .k = k,
                              .a = {A, type_a, lda, stride_a, transa},
                              .b = {B, type_b, ldb, stride_b, transb},
                              .c = {C, type_c, ldc, stride_c},
                              .alpha = alpha,
                              .beta = beta,
                              .compute = compute,
                              .count = count});
}
