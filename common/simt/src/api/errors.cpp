#include "api/errors.hpp"

#include <utility>

#include "simt/runtime.hpp"

namespace simt {
namespace {

struct Errors {
  cudaError_t sticky = cudaSuccess;
  cudaError_t last = cudaSuccess;
  bool in_host_function = false;
};
Errors errors;

}  // namespace

cudaError_t enter(const void* caller) {
  if (in_kernel()) {
    trap("a kernel calls a function of the CUDA runtime that only the host has",
         cudaErrorLaunchFailure, caller);
  }
  if (errors.in_host_function) return failed(cudaErrorNotPermitted);
  return sticky_error();
}

cudaError_t failed(cudaError_t error) { return errors.last = error; }

cudaError_t sticky_error() {
  return errors.sticky == cudaSuccess ? cudaSuccess : failed(errors.sticky);
}

void set_sticky_error(cudaError_t error) {
  if (errors.sticky == cudaSuccess) errors.sticky = error;
}

void reset_errors() { errors = {}; }

void run_host_function(cudaHostFn_t function, void* user_data) {
  errors.in_host_function = true;
  function(user_data);
  errors.in_host_function = false;
}

}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

cudaError_t cudaPeekAtLastError() { return simt::errors.last; }

cudaError_t cudaGetLastError() { return std::exchange(simt::errors.last, cudaSuccess); }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define SIMT_ERROR(code, name, text) \
  case name:                         \
    return #name;
#include "simt/error_codes.def"
#undef SIMT_ERROR
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define SIMT_ERROR(code, name, text) \
  case name:                         \
    return text;
#include "simt/error_codes.def"
#undef SIMT_ERROR
  }
  return "unrecognized error code";
}
