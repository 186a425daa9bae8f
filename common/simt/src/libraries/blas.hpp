// What the functions of cuBLAS share: handles, and the numbers alpha and beta.
#pragma once

#include <optional>

#include "libraries/library_call.hpp"
#include "simt/host_libraries/cublas_v2.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
};

namespace simt {

/// The call of the running function of cuBLAS.
#define SIMT_BLAS_CALL(name) \
  simt::LibraryCall { name, SIMT_CALLER, simt::is_alive(handle) ? handle->stream : nullptr }

/// True for a handle that cublasCreate() has made and that is not destroyed.
bool is_alive(cublasHandle_t handle);

inline cublasStatus_t status_of(cudaError_t error) {
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
inline bool is_operation(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

/// A number that is passed by its address, in memory of the host or of the device. Read from the host when the call is
/// made, from the device when its kernel runs.
template <class T>
struct Scalar {
  const T* on_device = nullptr;
  T value = {};

  Scalar(const T* p, cublasPointerMode_t mode, const void* caller) {
    if (mode == CUBLAS_POINTER_MODE_DEVICE) {
      on_device = p;
    } else {
      value = load(p, caller);
    }
  }
  T get(const void* caller) const { return on_device ? load(on_device, caller) : value; }
};

}  // namespace simt
