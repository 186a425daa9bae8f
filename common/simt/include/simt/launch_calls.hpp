// Launches as calls of the runtime API: cudaLaunchKernel() and its relatives.
#pragma once

#include <cstddef>

#include "simt/api.hpp"
#include "simt/launch.hpp"
#include "simt/runtime.hpp"
#include "simt/vector_types.hpp"

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8,
  cudaLaunchAttributePreferredClusterDimension = 11,
  cudaLaunchAttributePreferredSharedMemoryCarveout = 14
};

union cudaLaunchAttributeValue {
  char pad[64];
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
  int priority;
  struct {
    unsigned x, y, z;
  } preferredClusterDim;
  unsigned sharedMemCarveout;
};

struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  char pad[8 - sizeof(cudaLaunchAttributeID)];
  cudaLaunchAttributeValue val;
};

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};

/// Queues a launch of the kernel at an address. `args` point to one value for each of its parameters.
cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                             std::size_t sharedMem, cudaStream_t stream);
/// The same; all its blocks are resident at the same time, so that they may wait for each other.
cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args,
                                        std::size_t sharedMem, cudaStream_t stream);
/// The same as the attributes ask: cooperative, or in clusters of up to 8 blocks.
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args);

template <class T>
cudaError_t cudaLaunchKernel(T* func, dim3 gridDim, dim3 blockDim, void** args,
                             std::size_t sharedMem = 0, cudaStream_t stream = nullptr) {
  return cudaLaunchKernel(simt::plain_address(func), gridDim, blockDim, args, sharedMem, stream);
}
template <class T>
cudaError_t cudaLaunchCooperativeKernel(T* func, dim3 gridDim, dim3 blockDim, void** args,
                                        std::size_t sharedMem = 0, cudaStream_t stream = nullptr) {
  return cudaLaunchCooperativeKernel(simt::plain_address(func), gridDim, blockDim, args, sharedMem,
                                     stream);
}
template <class... Parameters, class... Args>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Args&&... args) {
  return [&](Parameters... values) {
    void* pointers[] = {const_cast<void*>(static_cast<const volatile void*>(&values))..., nullptr};
    return cudaLaunchKernelExC(config, simt::plain_address(kernel), pointers);
  }(static_cast<Args&&>(args)...);
}

// ---- in a kernel that may begin before the one before it in its stream has ended ----------------

/// Waits for the kernel before: here it has ended.
SIMT_API void cudaGridDependencySynchronize() {}
/// Lets the next kernel begin: here it begins when this one has ended.
SIMT_API void cudaTriggerProgrammaticLaunchCompletion() {}
