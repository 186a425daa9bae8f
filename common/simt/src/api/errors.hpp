// The errors of the runtime API.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "simt/api.hpp"

namespace simt {

/// How every call of the API begins: ends the program if a second thread of the host makes the call,
/// ends the kernel if one does, refuses host functions
/// that a stream runs, and returns the sticky error if there is one, or that of a FailingCall.
/// Questions that need no device (how many are there? what are its properties?) do without.
cudaError_t enter(const void* caller);
/// The same of calls that give something back, which no FailingCall makes fail.
cudaError_t enter_to_give_back(const void* caller);
/// Remembers an error for cudaGetLastError() and returns it.
cudaError_t failed(cudaError_t error);
/// The end of a call that asks for a value: puts it where the caller wants it, which must not be null.
template <class T>
cudaError_t hand_out(T* to, const std::type_identity_t<T>& value) {
  if (to == nullptr) return failed(cudaErrorInvalidValue);
  *to = value;
  return cudaSuccess;
}
/// A call that destroys what `find` finds. It does so after an error, too, and then returns that.
template <class Handle, class Found>
cudaError_t destroy_found(Handle handle, Found* (*find)(Handle), void (*destroy)(Found&),
                          const void* caller) {
  const cudaError_t error = enter_to_give_back(caller);
  Found* const found = find(handle);
  if (found == nullptr) return error != cudaSuccess ? error : failed(cudaErrorInvalidValue);
  destroy(*found);
  return error;
}
/// The error that every call that needs the device returns from now on, or cudaSuccess.
/// cudaGetLastError() resets it like any other, as on a GPU; the next call brings it back.
cudaError_t sticky_error();
/// Makes an error sticky, unless there is one already.
void set_sticky_error(cudaError_t error);
/// A launch was refused, which only the last error tells: `text` says so, about the line of the first of these calls that is the program's.
void launch_refused(const char* kernel, std::string text, std::vector<const void*> calls);
/// As in a new process.
void reset_errors();

/// A function of the host that a stream runs: it may not call the API.
void run_host_function(const std::function<void()>& call);

}  // namespace simt
