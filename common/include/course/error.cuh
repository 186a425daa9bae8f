// Errors of CUDA calls and kernel launches as one exception type. Chapter 00 (00-start-here)
// explains when an error of a kernel shows.
//
// Example (common/tests/examples_test.cu):
//
//   float* d_x = nullptr;
//   CUDA_CHECK(cudaMalloc(&d_x, 100 * sizeof(float)));  // throws course::CudaError if it fails
//   scale<<<1, 128>>>(d_x, 0, 1.0f, d_x);
//   CUDA_CHECK_LAUNCH();  // throws if CUDA refused the launch
//   CUDA_CHECK(cudaFree(d_x));
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace course {

/// A CUDA call or a kernel launch failed. what() says which, where, why, and what to try.
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const std::string& message)
      : std::runtime_error(message), code_(code) {}
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

/// True if no CUDA call can succeed after `code` in this process: the device's memory is lost.
bool is_sticky(cudaError_t code);

/// Throws the CudaError for a failed `expression` at file:line.
[[noreturn]] void throw_cuda_error(cudaError_t code, const char* expression, const char* file,
                                   int line);

/// What CUDA_CHECK calls; use the macro, it fills in the place.
inline void check(cudaError_t code, const char* expression, const char* file, int line) {
  if (code != cudaSuccess) throw_cuda_error(code, expression, file, line);
}
/// What CUDA_CHECK_LAUNCH calls.
void check_launch(const char* file, int line);

}  // namespace course

/// CUDA_CHECK(cudaMalloc(&p, bytes)); throws course::CudaError unless the call returns cudaSuccess.
#define CUDA_CHECK(call) ::course::check((call), #call, __FILE__, __LINE__)

/// Comes right after kernel<<<...>>>(...): throws if the launch itself was refused, for example
/// because of its block size. What goes wrong while the kernel runs shows at the next
/// synchronising call instead.
#define CUDA_CHECK_LAUNCH() ::course::check_launch(__FILE__, __LINE__)
