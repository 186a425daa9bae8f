// cuBLASLt as far as programs set it up whether they use it or not: see cublas_v2.h.
#pragma once

#include "cublas_v2.h"

struct cublasLtContext {};
using cublasLtHandle_t = cublasLtContext*;

inline cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return simt::create_context(handle);
}
inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return simt::destroy_context(handle);
}
