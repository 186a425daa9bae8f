// What kernels of one block give, for the tests of functions and types.
#pragma once

#include <cuda_runtime.h>

#include <course/buffer.cuh>
#include <cstddef>
#include <vector>

namespace simt_test {

/// Runs a kernel of one block, by default of one thread, that fills `n` results.
template <class T>
std::vector<T> results_of(void (*kernel)(T*), std::size_t n, dim3 threads = 1) {
  course::DeviceBuffer<T> results(n);
  kernel<<<1, threads>>>(results.data());
  CUDA_CHECK_LAUNCH();
  return results.download();
}

/// Runs a kernel of one block on these values; it fills `n` results.
template <class T>
std::vector<T> results_of(void (*kernel)(const T*, T*), const std::vector<T>& values, std::size_t n,
                          unsigned threads) {
  const auto in = course::DeviceBuffer<T>::from(values);
  course::DeviceBuffer<T> results(n);
  kernel<<<1, threads>>>(in.data(), results.data());
  CUDA_CHECK_LAUNCH();
  return results.download();
}

}  // namespace simt_test
