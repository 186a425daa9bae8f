// The runtime API: what it tells of the devices.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

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
constexpr int kCopyEngines = 3;
constexpr std::size_t kTextureAlignment = 512, kTexturePitch = 32;
// Told in kilohertz. They say nothing about this machine, but programs divide by them.
constexpr int kClockRate = 1980000, kMemoryClockRate = 3201000;
constexpr int kFloatsPerDouble = 2, kLinearTexture = 1 << 28;

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
  p.memoryPoolsSupported = p.hostRegisterSupported = p.canUseHostPointerForRegisteredMem = 1;
  // Programs that use streams ask for these, and end without them. Their order is what CUDA leaves
  // open; nothing overlaps here.
  p.concurrentKernels = p.streamPrioritiesSupported = 1;
  p.asyncEngineCount = kCopyEngines;
  p.computePreemptionSupported = p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.textureAlignment = p.surfaceAlignment = kTextureAlignment;
  p.texturePitchAlignment = kTexturePitch;
  p.unifiedFunctionPointers = 0;
  p.hostNumaId = p.deviceNumaId = -1;
  p.cooperativeLaunch = 1;
  // Of CUDA 12. The others of these members are 0: no limit of a kernel's time, any process may use the device.
  p.clockRate = kClockRate;
  p.memoryClockRate = kMemoryClockRate;
  p.deviceOverlap = 1;
  p.maxTexture1DLinear = kLinearTexture;
  p.singleToDoublePrecisionPerfRatio = kFloatsPerDouble;
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
      {cudaDevAttrMaxPitch, static_cast<int>(p.memPitch)},
      {cudaDevAttrClockRate, kClockRate},
      {cudaDevAttrTextureAlignment, static_cast<int>(p.textureAlignment)},
      {cudaDevAttrGpuOverlap, p.asyncEngineCount > 0 ? 1 : 0},
      {cudaDevAttrKernelExecTimeout, 0},
      {cudaDevAttrComputeMode, cudaComputeModeDefault},
      {cudaDevAttrSurfaceAlignment, static_cast<int>(p.surfaceAlignment)},
      {cudaDevAttrEccEnabled, p.ECCEnabled},
      {cudaDevAttrTccDriver, p.tccDriver},
      {cudaDevAttrMemoryClockRate, kMemoryClockRate},
      {cudaDevAttrTexturePitchAlignment, static_cast<int>(p.texturePitchAlignment)},
      {cudaDevAttrGlobalL1CacheSupported, p.globalL1CacheSupported},
      {cudaDevAttrLocalL1CacheSupported, p.localL1CacheSupported},
      {cudaDevAttrIsMultiGpuBoard, p.isMultiGpuBoard},
      {cudaDevAttrMultiGpuBoardGroupID, p.multiGpuBoardGroupID},
      {cudaDevAttrSingleToDoublePrecisionPerfRatio, kFloatsPerDouble},
      {cudaDevAttrComputePreemptionSupported, p.computePreemptionSupported},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem},
      {cudaDevAttrCanFlushRemoteWrites, 0},
      {cudaDevAttrHostRegisterSupported, p.hostRegisterSupported},
      {cudaDevAttrPageableMemoryAccessUsesHostPageTables, p.pageableMemoryAccessUsesHostPageTables},
      {cudaDevAttrDirectManagedMemAccessFromHost, p.directManagedMemAccessFromHost},
      {cudaDevAttrMaxPersistingL2CacheSize, p.persistingL2CacheMaxSize},
      {cudaDevAttrMaxAccessPolicyWindowSize, p.accessPolicyMaxWindowSize},
      {cudaDevAttrSparseCudaArraySupported, p.sparseCudaArraySupported},
      {cudaDevAttrHostRegisterReadOnlySupported, p.hostRegisterReadOnlySupported},
      {cudaDevAttrTimelineSemaphoreInteropSupported, p.timelineSemaphoreInteropSupported},
      {cudaDevAttrGPUDirectRDMASupported, p.gpuDirectRDMASupported},
      {cudaDevAttrGPUDirectRDMAFlushWritesOptions,
       static_cast<int>(p.gpuDirectRDMAFlushWritesOptions)},
      {cudaDevAttrGPUDirectRDMAWritesOrdering, p.gpuDirectRDMAWritesOrdering},
      {cudaDevAttrMemoryPoolSupportedHandleTypes,
       static_cast<int>(p.memoryPoolSupportedHandleTypes)},
      {cudaDevAttrClusterLaunch, p.clusterLaunch},
      {cudaDevAttrDeferredMappingCudaArraySupported, p.deferredMappingCudaArraySupported},
      {cudaDevAttrIpcEventSupport, p.ipcEventSupported},
      {cudaDevAttrNumaConfig, p.deviceNumaConfig},
      {cudaDevAttrNumaId, p.deviceNumaId},
      {cudaDevAttrMpsEnabled, p.mpsEnabled},
      {cudaDevAttrHostNumaId, p.hostNumaId},
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

std::string bus_id(int device) {
  const cudaDeviceProp p = properties_of(device);
  return fmt::format("{:04X}:{:02X}:{:02X}.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
}

/// True for domain:bus:device.function and for shorter forms, without the function or the domain.
bool names_bus(const char* text, const cudaDeviceProp& p) {
  unsigned domain = 0, bus = 0, device = 0;
  if (std::sscanf(text, "%x:%x:%x", &domain, &bus, &device) != 3) {
    domain = 0;
    if (std::sscanf(text, "%x:%x", &bus, &device) != 2) return false;
  }
  const auto is = [](unsigned n, int property) { return n == static_cast<unsigned>(property); };
  return is(domain, p.pciDomainID) && is(bus, p.pciBusID) && is(device, p.pciDeviceID);
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

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  if (device == nullptr || wanted == nullptr) return simt::failed(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (text == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  const std::string id = simt::bus_id(device);
  if (length <= static_cast<int>(id.size())) return simt::failed(cudaErrorInvalidValue);
  std::memcpy(text, id.c_str(), id.size() + 1);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (device == nullptr || text == nullptr) return simt::failed(cudaErrorInvalidValue);
  for (int d = 0; d < simt::device_count(); ++d) {
    if (!simt::names_bus(text, simt::properties_of(d))) continue;
    *device = d;
    return cudaSuccess;
  }
  return simt::failed(cudaErrorInvalidDevice);
}

cudaError_t cudaRuntimeGetVersion(int* version) { return simt::hand_out(version, simt::kVersion); }

cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (free == nullptr || total == nullptr) return simt::failed(cudaErrorInvalidValue);
  *total = simt::kDeviceMemory;
  *free = simt::kDeviceMemory - simt::allocated_bytes(simt::current_device());
  return cudaSuccess;
}
