#include "vendor.cuh"

#if COURSE_HAS_CUBLAS
#include <cublas_v2.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace {

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}

using Handle = std::shared_ptr<std::remove_pointer_t<cublasHandle_t>>;

/// A connection to cuBLAS whose results go to device memory, as ours do.
Handle new_handle() {
  cublasHandle_t handle = nullptr;
  check(cublasCreate(&handle), "cublasCreate");
  Handle owner(handle, [](cublasHandle_t h) { cublasDestroy(h); });
  check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
  return owner;
}

}  // namespace

course::Rung cublas_dot(const __half* d_a, const __half* d_b, std::size_t n, __half* d_y) {
  const auto launch = [=, handle = new_handle()] {
    check(cublasDotEx(handle.get(), static_cast<int>(n), d_a, CUDA_R_16F, 1, d_b, CUDA_R_16F, 1,
                      d_y, CUDA_R_16F, CUDA_R_32F),
          "cublasDotEx");
  };
  return {.name = "cublasDotEx",
          .changed = "cuBLAS; sums in float, the result is a half",
          .launch = launch};
}
#endif
