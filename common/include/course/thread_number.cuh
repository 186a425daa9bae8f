// For the kernels of checks whose blocks have one, two or three dimensions.
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
