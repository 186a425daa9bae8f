// The runtime API: what it tells of the devices.
#include <algorithm>
#include <cstring>
#include <map>

#include "api/errors.hpp"
#include "base/limits.hpp"
#include "memory/allocations.hpp"
#include "memory/devices.hpp"
#include "simt/testing.hpp"

namespace simt {
namespace {

// ---- what is the same on all ----------------------------------------------------------------------

// What an H200 answers (compute capability 9.0).
constexpr int kRegisters = 65536;
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

}  // namespace
}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

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
