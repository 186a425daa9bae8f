// What the tests of functions of one thread share.
#pragma once

#include <cuda_runtime.h>

#include <course/buffer.cuh>
#include <cstddef>
#include <vector>

namespace simt_test {

/// Runs a kernel of one thread that fills `n` results.
template <class T>
std::vector<T> results_of(void (*kernel)(T*), std::size_t n) {
  course::DeviceBuffer<T> results(n);
  kernel<<<1, 1>>>(results.data());
  CUDA_CHECK_LAUNCH();
  return results.download();
}

}  // namespace simt_test
