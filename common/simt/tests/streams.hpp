// Streams and events with an owner, for the tests of both.
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>

namespace simt_test {

struct OwnedStream {
  cudaStream_t handle = nullptr;
  explicit OwnedStream(unsigned flags) {
    REQUIRE(cudaStreamCreateWithFlags(&handle, flags) == cudaSuccess);
  }
  ~OwnedStream() { static_cast<void>(cudaStreamDestroy(handle)); }
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  operator cudaStream_t() const { return handle; }
};

struct OwnedEvent {
  cudaEvent_t handle = nullptr;
  explicit OwnedEvent(unsigned flags) {
    REQUIRE(cudaEventCreateWithFlags(&handle, flags) == cudaSuccess);
  }
  ~OwnedEvent() { static_cast<void>(cudaEventDestroy(handle)); }
  OwnedEvent(const OwnedEvent&) = delete;
  OwnedEvent& operator=(const OwnedEvent&) = delete;
  operator cudaEvent_t() const { return handle; }
};

}  // namespace simt_test
