// cuBLAS: handles, statuses, and copies between the host and the device.
#include <unordered_set>

#include "api/copies.hpp"
#include "api/errors.hpp"
#include "libraries/blas.hpp"

namespace simt {
namespace {

std::unordered_set<cublasHandle_t>& handles() {
  static auto& set = *new std::unordered_set<cublasHandle_t>;
  return set;
}

/// What sets or asks a property of a handle.
template <class T>
cublasStatus_t set_property(cublasHandle_t handle, T cublasContext::*property, T value) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->*property = value;
  return CUBLAS_STATUS_SUCCESS;
}
template <class T>
cublasStatus_t ask_property(cublasHandle_t handle, T cublasContext::*property, T* value) {
  if (!is_alive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *value = handle->*property;
  return CUBLAS_STATUS_SUCCESS;
}

// ---- copies -------------------------------------------------------------------------------------

/// Columns of `height` bytes, whose beginnings are a pitch apart.
struct Columns {
  const void* from;
  std::size_t from_pitch;
  void* to;
  std::size_t to_pitch;
  std::size_t height, count;
};

cublasStatus_t copy_columns(const LibraryCall& call, const Columns& c, cudaMemcpyKind kind,
                            Wait wait) {
  if (c.height == 0 || c.count == 0) return CUBLAS_STATUS_SUCCESS;
  if (c.height > c.from_pitch || c.height > c.to_pitch) return CUBLAS_STATUS_INVALID_VALUE;
  const cudaError_t error =
      start_copy({call.name, c.to, c.from, {c.to_pitch}, {c.from_pitch}, {c.height, c.count}, kind},
                 call.stream, wait, call.caller);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

cublasStatus_t copy_elements(const LibraryCall& call, int n, int size, const void* x, int incx,
                             void* y, int incy, cudaMemcpyKind kind, Wait wait) {
  if (n < 0 || size <= 0 || incx <= 0 || incy <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  const auto bytes = static_cast<std::size_t>(size), count = static_cast<std::size_t>(n);
  const Columns columns{x, bytes * incx, y, bytes * incy, bytes, count};
  const Columns whole{x, bytes * count, y, bytes * count, bytes * count, 1};
  return copy_columns(call, incx == 1 && incy == 1 ? whole : columns, kind, wait);
}

cublasStatus_t copy_matrix(const LibraryCall& call, int rows, int columns, int size, const void* a,
                           int lda, void* b, int ldb, cudaMemcpyKind kind, Wait wait) {
  if (rows < 0 || columns < 0 || size <= 0 || lda <= 0 || ldb <= 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const auto bytes = static_cast<std::size_t>(size);
  return copy_columns(
      call, {a, bytes * lda, b, bytes * ldb, bytes * rows, static_cast<std::size_t>(columns)}, kind,
      wait);
}

}  // namespace

bool is_alive(cublasHandle_t handle) { return handles().contains(handle); }

}  // namespace simt

// ---- handles ------------------------------------------------------------------------------------

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (simt::enter(SIMT_CALLER) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasContext;
  simt::handles().insert(*handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  if (simt::handles().erase(handle) == 0) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  simt::finish_device(simt::current_device());
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = 130000;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  return simt::set_property(handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasGetStream(cublasHandle_t handle, cudaStream_t* stream) {
  return simt::ask_property(handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode) {
  return simt::set_property(handle, &cublasContext::pointers, mode);
}
cublasStatus_t cublasGetPointerMode(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return simt::ask_property(handle, &cublasContext::pointers, mode);
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  return simt::set_property(handle, &cublasContext::math, mode);
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return simt::ask_property(handle, &cublasContext::math, mode);
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return simt::set_property(handle, &cublasContext::atomics, mode);
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return simt::ask_property(handle, &cublasContext::atomics, mode);
}
cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void*, std::size_t) {
  return simt::is_alive(handle) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

#define SIMT_STATUSES(STATUS)                                                                      \
  STATUS(SUCCESS, "the operation completed successfully")                                          \
  STATUS(NOT_INITIALIZED, "the library was not initialized")                                       \
  STATUS(ALLOC_FAILED, "the resource allocation failed")                                           \
  STATUS(INVALID_VALUE, "an unsupported value or parameter was passed to the function")            \
  STATUS(                                                                                          \
      ARCH_MISMATCH,                                                                               \
      "the function requires an architectural feature absent from the architecture of the device") \
  STATUS(MAPPING_ERROR, "an access to GPU memory space failed")                                    \
  STATUS(EXECUTION_FAILED, "the GPU program failed to execute")                                    \
  STATUS(INTERNAL_ERROR, "an internal operation failed")                                           \
  STATUS(NOT_SUPPORTED, "the functionality requested is not supported")                            \
  STATUS(                                                                                          \
      LICENSE_ERROR,                                                                               \
      "the functionality requested requires some license and an error was detected when trying to check the current licensing")
const char* cublasGetStatusName(cublasStatus_t status) {
#define SIMT_NAME(name, text) \
  if (status == CUBLAS_STATUS_##name) return "CUBLAS_STATUS_" #name;
  SIMT_STATUSES(SIMT_NAME)
#undef SIMT_NAME
  return "unknown status";
}
const char* cublasGetStatusString(cublasStatus_t status) {
#define SIMT_TEXT(name, text) \
  if (status == CUBLAS_STATUS_##name) return text;
  SIMT_STATUSES(SIMT_TEXT)
#undef SIMT_TEXT
  return "unknown status";
}
#undef SIMT_STATUSES

// ---- copies -------------------------------------------------------------------------------------

cublasStatus_t cublasSetVector(int n, int element_size, const void* x, int incx, void* d_y,
                               int incy) {
  return simt::copy_elements({"cublasSetVector", SIMT_CALLER, nullptr}, n, element_size, x, incx,
                             d_y, incy, cudaMemcpyHostToDevice, simt::Wait::yes);
}
cublasStatus_t cublasGetVector(int n, int element_size, const void* d_x, int incx, void* y,
                               int incy) {
  return simt::copy_elements({"cublasGetVector", SIMT_CALLER, nullptr}, n, element_size, d_x, incx,
                             y, incy, cudaMemcpyDeviceToHost, simt::Wait::yes);
}
cublasStatus_t cublasSetMatrix(int rows, int columns, int element_size, const void* A, int lda,
                               void* d_B, int ldb) {
  return simt::copy_matrix({"cublasSetMatrix", SIMT_CALLER, nullptr}, rows, columns, element_size,
                           A, lda, d_B, ldb, cudaMemcpyHostToDevice, simt::Wait::yes);
}
cublasStatus_t cublasGetMatrix(int rows, int columns, int element_size, const void* d_A, int lda,
                               void* B, int ldb) {
  return simt::copy_matrix({"cublasGetMatrix", SIMT_CALLER, nullptr}, rows, columns, element_size,
                           d_A, lda, B, ldb, cudaMemcpyDeviceToHost, simt::Wait::yes);
}
cublasStatus_t cublasSetVectorAsync(int n, int element_size, const void* x, int incx, void* d_y,
                                    int incy, cudaStream_t stream) {
  return simt::copy_elements({"cublasSetVectorAsync", SIMT_CALLER, stream}, n, element_size, x,
                             incx, d_y, incy, cudaMemcpyHostToDevice, simt::Wait::no);
}
cublasStatus_t cublasGetVectorAsync(int n, int element_size, const void* d_x, int incx, void* y,
                                    int incy, cudaStream_t stream) {
  return simt::copy_elements({"cublasGetVectorAsync", SIMT_CALLER, stream}, n, element_size, d_x,
                             incx, y, incy, cudaMemcpyDeviceToHost, simt::Wait::no);
}
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int element_size, const void* A, int lda,
                                    void* d_B, int ldb, cudaStream_t stream) {
  return simt::copy_matrix({"cublasSetMatrixAsync", SIMT_CALLER, stream}, rows, columns,
                           element_size, A, lda, d_B, ldb, cudaMemcpyHostToDevice, simt::Wait::no);
}
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int element_size, const void* d_A,
                                    int lda, void* B, int ldb, cudaStream_t stream) {
  return simt::copy_matrix({"cublasGetMatrixAsync", SIMT_CALLER, stream}, rows, columns,
                           element_size, d_A, lda, B, ldb, cudaMemcpyDeviceToHost, simt::Wait::no);
}
