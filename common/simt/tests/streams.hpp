// Streams and events with an owner, for the tests of both.
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <functional>
#ifdef SIMT_CPU_DEVICE
#include "simt/testing.hpp"
#endif

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

#ifdef SIMT_CPU_DEVICE
/// Runs the rest of a test under one schedule, then goes back to the one before.
struct Seed {
  std::uint64_t before = simt::seed();
  explicit Seed(std::uint64_t seed) { simt::set_seed(seed); }
  ~Seed() { simt::set_seed(before); }
  Seed(const Seed&) = delete;
};

/// `run` does two things that nothing orders, and returns 12 or 21. The seeds from `first` to 20 find
/// both, and each seed always the same one.
inline void check_both_orders(std::uint64_t first, const std::function<int()>& run) {
  int orders[2] = {0, 0};
  for (std::uint64_t s = first; s <= 20; ++s) {
    const Seed seed(s);
    const int found = run();
    REQUIRE((found == 12 || found == 21));
    CHECK(run() == found);
    ++orders[found == 12];
  }
  CHECK(orders[0] > 0);
  CHECK(orders[1] > 0);
}
#endif

}  // namespace simt_test
