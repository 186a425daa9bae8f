// The runtime API's questions about the device, its errors and its kernels.
#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "devices.hpp"
#include "memory.hpp"
#include "streams.hpp"

namespace simt {
namespace {

// ---- the device ---------------------------------------------------------------------------------

// 4 multiprocessors of 2048 threads: as many threads as the scheduler keeps in flight when blocks
// have 1024. The rest is what an H200 answers (compute capability 9.0).
constexpr int kMultiprocessors = 4;
constexpr int kThreadsPerMultiprocessor = 2048;
constexpr int kBlocksPerMultiprocessor = 32;
constexpr int kRegisters = 65536;
constexpr std::size_t kSharedPerMultiprocessor = 228 * 1024;
constexpr std::size_t kSharedReserved = 1024;  // what the system takes of every block's share
constexpr std::size_t kConstantMemory = 64 * 1024;
constexpr int kL2Cache = 1 << 20;
constexpr int kBusWidth = 64;
constexpr int kVersion = 13000;

cudaDeviceProp make_properties() {
  cudaDeviceProp p{};
  std::strcpy(p.name, "simt CPU device");
  p.totalGlobalMem = kDeviceMemory;
  p.sharedMemPerBlock = kSharedPerBlock;
  p.sharedMemPerBlockOptin = kSharedOptIn;
  p.sharedMemPerMultiprocessor = kSharedPerMultiprocessor;
  p.reservedSharedMemPerBlock = kSharedReserved;
  p.totalConstMem = kConstantMemory;
  p.regsPerBlock = p.regsPerMultiprocessor = kRegisters;
  p.warpSize = warpSize;
  p.memPitch = kMaxGridDim[0];
  p.maxThreadsPerBlock = kMaxThreadsPerBlock;
  std::copy_n(kMaxBlockDim, 3, p.maxThreadsDim);
  std::copy_n(kMaxGridDim, 3, p.maxGridSize);
  p.major = 9;
  p.multiProcessorCount = kMultiprocessors;
  p.maxThreadsPerMultiProcessor = kThreadsPerMultiprocessor;
  p.maxBlocksPerMultiProcessor = kBlocksPerMultiprocessor;
  p.memoryBusWidth = kBusWidth;
  p.l2CacheSize = kL2Cache;
  p.canMapHostMemory = p.unifiedAddressing = p.managedMemory = p.concurrentManagedAccess = 1;
  p.memoryPoolsSupported = 1;
  return p;
}

/// The devices differ in their place on the bus only. Whether the link to the host carries atomics
/// may change from test to test.
cudaDeviceProp properties_of(int device) {
  static const cudaDeviceProp common = make_properties();
  cudaDeviceProp p = common;
  p.pciBusID = device + 1;
  p.hostNativeAtomicSupported = host_atomics() ? 1 : 0;
  return p;
}

/// Every attribute is a property by another name.
std::map<cudaDeviceAttr, int> attributes_of(int device) {
  const cudaDeviceProp p = properties_of(device);
  return {
      {cudaDevAttrMaxThreadsPerBlock, static_cast<int>(p.maxThreadsPerBlock)},
      {cudaDevAttrMaxBlockDimX, static_cast<int>(p.maxThreadsDim[0])},
      {cudaDevAttrMaxBlockDimY, static_cast<int>(p.maxThreadsDim[1])},
      {cudaDevAttrMaxBlockDimZ, static_cast<int>(p.maxThreadsDim[2])},
      {cudaDevAttrMaxGridDimX, static_cast<int>(p.maxGridSize[0])},
      {cudaDevAttrMaxGridDimY, static_cast<int>(p.maxGridSize[1])},
      {cudaDevAttrMaxGridDimZ, static_cast<int>(p.maxGridSize[2])},
      {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<int>(p.sharedMemPerBlock)},
      {cudaDevAttrTotalConstantMemory, static_cast<int>(p.totalConstMem)},
      {cudaDevAttrWarpSize, static_cast<int>(p.warpSize)},
      {cudaDevAttrMaxRegistersPerBlock, static_cast<int>(p.regsPerBlock)},
      {cudaDevAttrMultiProcessorCount, static_cast<int>(p.multiProcessorCount)},
      {cudaDevAttrIntegrated, static_cast<int>(p.integrated)},
      {cudaDevAttrCanMapHostMemory, static_cast<int>(p.canMapHostMemory)},
      {cudaDevAttrConcurrentKernels, static_cast<int>(p.concurrentKernels)},
      {cudaDevAttrPciBusId, static_cast<int>(p.pciBusID)},
      {cudaDevAttrPciDeviceId, static_cast<int>(p.pciDeviceID)},
      {cudaDevAttrPciDomainId, static_cast<int>(p.pciDomainID)},
      {cudaDevAttrGlobalMemoryBusWidth, static_cast<int>(p.memoryBusWidth)},
      {cudaDevAttrL2CacheSize, static_cast<int>(p.l2CacheSize)},
      {cudaDevAttrMaxThreadsPerMultiProcessor, static_cast<int>(p.maxThreadsPerMultiProcessor)},
      {cudaDevAttrAsyncEngineCount, static_cast<int>(p.asyncEngineCount)},
      {cudaDevAttrUnifiedAddressing, static_cast<int>(p.unifiedAddressing)},
      {cudaDevAttrComputeCapabilityMajor, static_cast<int>(p.major)},
      {cudaDevAttrComputeCapabilityMinor, static_cast<int>(p.minor)},
      {cudaDevAttrStreamPrioritiesSupported, static_cast<int>(p.streamPrioritiesSupported)},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor, static_cast<int>(p.sharedMemPerMultiprocessor)},
      {cudaDevAttrMaxRegistersPerMultiprocessor, static_cast<int>(p.regsPerMultiprocessor)},
      {cudaDevAttrManagedMemory, static_cast<int>(p.managedMemory)},
      {cudaDevAttrHostNativeAtomicSupported, static_cast<int>(p.hostNativeAtomicSupported)},
      {cudaDevAttrPageableMemoryAccess, static_cast<int>(p.pageableMemoryAccess)},
      {cudaDevAttrConcurrentManagedAccess, static_cast<int>(p.concurrentManagedAccess)},
      {cudaDevAttrCooperativeLaunch, static_cast<int>(p.cooperativeLaunch)},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<int>(p.sharedMemPerBlockOptin)},
      {cudaDevAttrMaxBlocksPerMultiprocessor, static_cast<int>(p.maxBlocksPerMultiProcessor)},
      {cudaDevAttrReservedSharedMemoryPerBlock, static_cast<int>(p.reservedSharedMemPerBlock)},
      {cudaDevAttrMemoryPoolsSupported, static_cast<int>(p.memoryPoolsSupported)},
  };
}

// ---- kernels ------------------------------------------------------------------------------------

/// Dynamic shared memory that cudaFuncSetAttribute granted, by kernel.
std::unordered_map<const void*, std::size_t>& grants() {
  static auto& map = *new std::unordered_map<const void*, std::size_t>;
  return map;
}

std::size_t granted(const void* kernel) {
  const auto it = grants().find(kernel);
  return it == grants().end() ? kSharedPerBlock : it->second;
}

int blocks_that_fit(int block_size, std::size_t dynamic_shared) {
  if (block_size > static_cast<int>(kMaxThreadsPerBlock)) return 0;
  const int whole_warps = (block_size + warpSize - 1) / warpSize * warpSize;
  const auto by_shared = kSharedPerMultiprocessor / (dynamic_shared + kSharedReserved);
  return std::min({kThreadsPerMultiprocessor / whole_warps, kBlocksPerMultiprocessor,
                   static_cast<int>(by_shared)});
}

}  // namespace

std::size_t shared_opt_in() {
  std::size_t most = 0;
  for (const auto& [kernel, size] : grants()) most = std::max(most, size);
  return most;
}

cudaError_t set_function_attribute(const void* function, cudaFuncAttribute attribute, int value,
                                   const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (function == nullptr) return failed(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {  // a wish, not a rule
    return value < -1 || value > 100 ? failed(cudaErrorInvalidValue) : cudaSuccess;
  }
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      value > static_cast<int>(kSharedOptIn)) {
    return failed(cudaErrorInvalidValue);
  }
  grants()[function] = static_cast<std::size_t>(value);
  return cudaSuccess;
}

cudaError_t function_attributes(cudaFuncAttributes* attributes, const void* function,
                                const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (attributes == nullptr) return failed(cudaErrorInvalidValue);
  if (function == nullptr) return failed(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->maxThreadsPerBlock = kMaxThreadsPerBlock;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(granted(function));
  attributes->preferredShmemCarveout = -1;
  return cudaSuccess;
}

cudaError_t active_blocks(int* blocks, const void* function, int block_size,
                          std::size_t dynamic_shared, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (blocks == nullptr || block_size <= 0) return failed(cudaErrorInvalidValue);
  if (function == nullptr) return failed(cudaErrorInvalidDeviceFunction);
  *blocks = dynamic_shared > granted(function) ? 0 : blocks_that_fit(block_size, dynamic_shared);
  return cudaSuccess;
}

cudaError_t best_block_size(int* min_grid, int* block_size, const void* function,
                            std::size_t dynamic_shared, int limit, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (min_grid == nullptr || block_size == nullptr || limit < 0) {
    return failed(cudaErrorInvalidValue);
  }
  const int most = static_cast<int>(kMaxThreadsPerBlock);
  const int size = limit == 0 ? most : std::min(limit, most);
  int blocks = 0;
  const cudaError_t error = active_blocks(&blocks, function, size, dynamic_shared, caller);
  if (error != cudaSuccess) return error;
  *block_size = size;
  *min_grid = blocks * kMultiprocessors;
  return cudaSuccess;
}

}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define SIMT_ERROR(code, name, text) \
  case name:                         \
    return #name;
#include "simt/error_codes.def"
#undef SIMT_ERROR
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define SIMT_ERROR(code, name, text) \
  case name:                         \
    return text;
#include "simt/error_codes.def"
#undef SIMT_ERROR
  }
  return "unrecognized error code";
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (properties == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  *properties = simt::properties_of(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (value == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  const auto attributes = simt::attributes_of(device);
  const auto it = attributes.find(attribute);
  if (it == attributes.end()) return simt::failed(cudaErrorInvalidValue);
  *value = it->second;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return simt::failed(cudaErrorInvalidValue);
  *version = simt::kVersion;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (free == nullptr || total == nullptr) return simt::failed(cudaErrorInvalidValue);
  *total = simt::kDeviceMemory;
  *free = simt::kDeviceMemory - simt::allocated_bytes(simt::current_device());
  return cudaSuccess;
}

cudaError_t cudaDeviceReset() {
  static_cast<void>(simt::enter(SIMT_CALLER));
  simt::drop_queues(simt::current_device());
  simt::free_everything(simt::current_device());
  simt::grants().clear();
  return cudaSuccess;
}
