// Streams and events with an owner, for the tests of both.
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>

namespace simt_test {

/// A handle of CUDA's: made with flags, and destroyed at the end.
template <class Handle, cudaError_t (*create)(Handle*, unsigned), cudaError_t (*destroy)(Handle)>
struct Owned {
  Handle handle = nullptr;
  explicit Owned(unsigned flags) { REQUIRE(create(&handle, flags) == cudaSuccess); }
  ~Owned() { static_cast<void>(destroy(handle)); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  operator Handle() const { return handle; }
};
using OwnedStream = Owned<cudaStream_t, cudaStreamCreateWithFlags, cudaStreamDestroy>;
using OwnedEvent = Owned<cudaEvent_t, cudaEventCreateWithFlags, cudaEventDestroy>;

}  // namespace simt_test
