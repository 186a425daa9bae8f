// cuBLASXt: products of matrices that are in memory of the host or of the device. Each call waits until C is there. All
// devices that it may use do as much as one. See cublas_v2.h.
#pragma once

#include "cublas_v2.h"

struct cublasXtContext;
using cublasXtHandle_t = cublasXtContext*;

cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle);
cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle);
/// Of several devices the first one computes.
cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[]);
cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int size);
cublasStatus_t cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, std::size_t m, std::size_t n, std::size_t k,
                             const float* alpha, const float* A, std::size_t lda, const float* B,
                             std::size_t ldb, const float* beta, float* C, std::size_t ldc);
cublasStatus_t cublasXtDgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, std::size_t m, std::size_t n, std::size_t k,
                             const double* alpha, const double* A, std::size_t lda, const double* B,
                             std::size_t ldb, const double* beta, double* C, std::size_t ldc);
