// For the kernels of checks whose blocks have one, two or three dimensions.
//
// Example (common/tests/examples_test.cu):
//
//   __global__ void number_all(unsigned* d_y, std::size_t n) {
//     for (std::size_t i = course::thread_number(); i < n; i += course::thread_count()) {
//       d_y[i] = static_cast<unsigned>(i);
//     }
//   }
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace course {

/// The thread's number in a grid of one dimension, whatever dimensions its blocks have.
__device__ inline std::size_t thread_number() {
  const unsigned in_block = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  return std::size_t{blockIdx.x} * (blockDim.x * blockDim.y * blockDim.z) + in_block;
}
/// How many such threads there are.
__device__ inline std::size_t thread_count() {
  return std::size_t{gridDim.x} * (blockDim.x * blockDim.y * blockDim.z);
}

}  // namespace course
