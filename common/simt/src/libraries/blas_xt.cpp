// cuBLASXt: products of matrices that may be in memory of the host, through copies on the device.
#include "api/copies.hpp"
#include "api/errors.hpp"
#include "libraries/gemm.hpp"
#include "simt/host_libraries/cublasXt.h"

struct cublasXtContext {
  int device = 0;
};

namespace simt {
namespace {

/// A matrix on the device, whose columns follow one another.
template <class T>
class OnDevice {
 public:
  OnDevice(std::size_t rows, std::size_t columns, const void* caller)
      : rows_(rows), columns_(columns), caller_(caller) {
    if (rows * columns > 0) {
      allocate_device(&data_, rows * columns * sizeof(T), type_of<T>(), caller);
    }
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { cudaFree(data_); }

  bool is_there() const { return data_ != nullptr || rows_ * columns_ == 0; }
  void* data() const { return data_; }
  bool fill(const char* name, const T* from, std::size_t ld) {
    return copy(
        {name, data_, from, {height()}, {ld * sizeof(T)}, {height(), columns_}, cudaMemcpyDefault});
  }
  bool hand_out(const char* name, T* to, std::size_t ld) {
    return copy(
        {name, to, data_, {ld * sizeof(T)}, {height()}, {height(), columns_}, cudaMemcpyDefault});
  }

 private:
  std::size_t height() const { return rows_ * sizeof(T); }
  bool copy(Copy copy) {
    return copy.shape.empty() || start_copy(copy, nullptr, Wait::yes, caller_) == cudaSuccess;
  }

  std::size_t rows_, columns_;
  const void* caller_;
  void* data_ = nullptr;
};

template <class T>
struct HostProduct {
  cublasOperation_t transa, transb;
  std::size_t m, n, k;
  const T *alpha, *a, *b, *beta;
  T* c;
  std::size_t lda, ldb, ldc;
};

template <class T>
cublasStatus_t multiply_on_host(const LibraryCall& call, cublasXtHandle_t handle,
                                const HostProduct<T>& p) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool is_a = p.transa == CUBLAS_OP_N, is_b = p.transb == CUBLAS_OP_N;
  const std::size_t rows_a = is_a ? p.m : p.k, rows_b = is_b ? p.k : p.n;
  if (p.lda < rows_a || p.ldb < rows_b || p.ldc < p.m || p.alpha == nullptr || p.beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const int current = current_device();
  cudaSetDevice(handle->device);
  OnDevice<T> a(rows_a, is_a ? p.k : p.m, call.caller), b(rows_b, is_b ? p.n : p.k, call.caller),
      c(p.m, p.n, call.caller);
  cublasStatus_t status = CUBLAS_STATUS_ALLOC_FAILED;
  if (a.is_there() && b.is_there() && c.is_there()) {
    const bool is_filled = a.fill(call.name, p.a, p.lda) && b.fill(call.name, p.b, p.ldb) &&
                           (*p.beta == 0 || c.fill(call.name, p.c, p.ldc));
    constexpr bool kIsDouble = sizeof(T) == sizeof(double);
    constexpr cudaDataType kType = kIsDouble ? CUDA_R_64F : CUDA_R_32F;
    const auto ld = [](std::size_t rows) { return static_cast<long long>(rows > 0 ? rows : 1); };
    const Matrix result{c.data(), kType, ld(p.m)};
    status = !is_filled
                 ? CUBLAS_STATUS_MAPPING_ERROR
                 : multiply(call, {.m = static_cast<long long>(p.m),
                                   .n = static_cast<long long>(p.n),
                                   .k = static_cast<long long>(p.k),
                                   .a = {a.data(), kType, ld(rows_a), 0, p.transa},
                                   .b = {b.data(), kType, ld(rows_b), 0, p.transb},
                                   .c = result,
                                   .d = result,
                                   .alpha = p.alpha,
                                   .beta = p.beta,
                                   .pointers = CUBLAS_POINTER_MODE_HOST,
                                   .compute = kIsDouble ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F});
    if (status == CUBLAS_STATUS_SUCCESS && !c.hand_out(call.name, p.c, p.ldc)) {
      status = CUBLAS_STATUS_EXECUTION_FAILED;
    }
  }
  cudaSetDevice(current);
  return status;
}

}  // namespace
}  // namespace simt

cublasStatus_t cublasXtCreate(cublasXtHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasXtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtDestroy(cublasXtHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtDeviceSelect(cublasXtHandle_t handle, int count, int devices[]) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  int all = 0;
  cudaGetDeviceCount(&all);
  if (count <= 0 || devices == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  for (int i = 0; i < count; ++i) {
    if (devices[i] < 0 || devices[i] >= all) return CUBLAS_STATUS_INVALID_VALUE;
  }
  handle->device = devices[0];
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasXtSetBlockDim(cublasXtHandle_t handle, int size) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return size > 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasXtSgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, std::size_t m, std::size_t n, std::size_t k,
                             const float* alpha, const float* A, std::size_t lda, const float* B,
                             std::size_t ldb, const float* beta, float* C, std::size_t ldc) {
  return simt::multiply_on_host<float>(
      {"cublasXtSgemm", SIMT_CALLER, nullptr}, handle,
      {transa, transb, m, n, k, alpha, A, B, beta, C, lda, ldb, ldc});
}
cublasStatus_t cublasXtDgemm(cublasXtHandle_t handle, cublasOperation_t transa,
                             cublasOperation_t transb, std::size_t m, std::size_t n, std::size_t k,
                             const double* alpha, const double* A, std::size_t lda, const double* B,
                             std::size_t ldb, const double* beta, double* C, std::size_t ldc) {
  return simt::multiply_on_host<double>(
      {"cublasXtDgemm", SIMT_CALLER, nullptr}, handle,
      {transa, transb, m, n, k, alpha, A, B, beta, C, lda, ldb, ldc});
}
