// cuBLASLt as far as programs set it up whether they use it or not: see cublas_v2.h.
#pragma once

#include "cublas_v2.h"

struct cublasLtContext {};
using cublasLtHandle_t = cublasLtContext*;

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
