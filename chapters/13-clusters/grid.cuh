// How many blocks a kernel gets whose blocks each take an SM for themselves.
#pragma once

#include <course/error.cuh>
#include <cstddef>

/// SMs (streaming multiprocessors) of the current device. Throws CudaError.
inline unsigned sm_count() {
  int device = 0, count = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return static_cast<unsigned>(count);
}

/// Lets a kernel have so many bytes of dynamic shared memory: more than 48 KiB must be asked for.
/// Throws CudaError.
template <class Kernel>
void allow_shared(Kernel* kernel, std::size_t bytes) {
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  static_cast<int>(bytes)));
}
