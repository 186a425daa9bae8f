// The CUDA runtime API of the CPU device, for host code. Names, numbers and error codes are CUDA
// 13's. common/simt/README.md says what the model of streams leaves out.
#pragma once

#include <cstddef>
#include <type_traits>

#include "simt/launch_types.hpp"
#include "simt/platform.hpp"
#include "simt/vector_types.hpp"

// ---- types --------------------------------------------------------------------------------------

enum cudaError {
#define SIMT_ERROR(code, name, text) name = code,
#include "simt/error_codes.def"
#undef SIMT_ERROR
};
using cudaError_t = cudaError;

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaHostFn_t = void (*)(void* user_data);

#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))

constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;
constexpr unsigned cudaEventRecordDefault = 0, cudaEventWaitDefault = 0;
constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                   cudaHostAllocWriteCombined = 4;
constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2;
constexpr unsigned cudaOccupancyDefault = 0;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

/// The fields of CUDA's structure that say something about this device.
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int regsPerBlock;
  int warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  std::size_t totalConstMem;
  int major;
  int minor;
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int concurrentKernels;
  int ECCEnabled;
  int pciBusID;
  int pciDeviceID;
  int pciDomainID;
  int asyncEngineCount;
  int unifiedAddressing;
  int memoryBusWidth;
  int l2CacheSize;
  int persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor;
  int managedMemory;
  int hostNativeAtomicSupported;
  int pageableMemoryAccess;
  int concurrentManagedAccess;
  int cooperativeLaunch;
  std::size_t sharedMemPerBlockOptin;
  int maxBlocksPerMultiProcessor;
  std::size_t reservedSharedMemPerBlock;
  int memoryPoolsSupported;
};

enum cudaDeviceP2PAttr {
  cudaDevP2PAttrPerformanceRank = 1,
  cudaDevP2PAttrAccessSupported = 2,
  cudaDevP2PAttrNativeAtomicSupported = 3,
  cudaDevP2PAttrCudaArrayAccessSupported = 4
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrCanMapHostMemory = 19,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrPciDomainId = 50,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrStreamPrioritiesSupported = 78,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrManagedMemory = 83,
  cudaDevAttrHostNativeAtomicSupported = 86,
  cudaDevAttrPageableMemoryAccess = 88,
  cudaDevAttrConcurrentManagedAccess = 89,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111,
  cudaDevAttrMemoryPoolsSupported = 115
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

struct cudaFuncAttributes {
  std::size_t sharedSizeBytes;  // static shared memory: not known here, 0
  std::size_t constSizeBytes;
  std::size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
};

// ---- errors -------------------------------------------------------------------------------------

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
/// The last error of any call, and forgets it. After a sticky error the next call brings it back.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

// ---- the devices --------------------------------------------------------------------------------

/// SIMT_DEVICES, or 2.
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
/// Launches of the current device from here on reach the memory of `peer`.
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to);
/// Both versions are 13000: the CUDA whose behaviour this device follows.
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDriverGetVersion(int* version);
/// Of the current device; so are the two below.
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
/// Runs everything that is queued in every stream of the device.
cudaError_t cudaDeviceSynchronize();
/// Frees all memory of the device and drops what is queued.
cudaError_t cudaDeviceReset();

// ---- memory -------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** pointer, std::size_t size);
cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream);
cudaError_t cudaMallocManaged(void** pointer, std::size_t size,
                              unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaMallocHost(void** pointer, std::size_t size, unsigned flags = cudaHostAllocDefault);
cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned flags);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
/// Waits for the device that the memory was made on, as cudaFreeHost does.
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaFreeHost(void* pointer);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t count, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
/// Between the memories of two devices, which need no peer access for it. Waits for what both have
/// been given before, and they wait for it; the host does not.
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                           std::size_t count);
/// The same in the order of `stream` alone, unless that is the default stream.
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                std::size_t count, cudaStream_t stream = nullptr);
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                         std::size_t width, std::size_t height, cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* pointer, int value, std::size_t count);
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t count,
                            cudaStream_t stream = nullptr);

// ---- streams and events -------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
/// Runs what is queued in the stream first.
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
/// cudaErrorNotReady if something is queued; then runs one operation, so that polling ends.
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned flags = cudaEventWaitDefault);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* user_data);

cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
/// cudaErrorNotReady until the event has happened; runs one operation, so that polling ends.
cudaError_t cudaEventQuery(cudaEvent_t event);
/// Time of this machine's clock between two events: no GPU's time.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);

// ---- what the templates below call --------------------------------------------------------------

namespace simt {

/// Queues a launch. A bad configuration is returned, and becomes the last error, as with CUDA.
cudaError_t enqueue_launch(Launch launch, cudaStream_t stream);

cudaError_t allocate_device(void** pointer, std::size_t size, ElementType element,
                            const void* caller);
cudaError_t allocate_in_stream(void** pointer, std::size_t size, ElementType element,
                               cudaStream_t stream, const void* caller);
cudaError_t allocate_managed(void** pointer, std::size_t size, unsigned flags, ElementType element,
                             const void* caller);
cudaError_t allocate_pinned(void** pointer, std::size_t size, unsigned flags, ElementType element,
                            const void* caller);

/// A range of bytes of a `__device__` or `__constant__` variable.
struct SymbolRange {
  const void* symbol;
  std::size_t symbol_size, offset, count;
};
cudaError_t copy_to_symbol(const SymbolRange& to, const void* from, cudaMemcpyKind kind,
                           cudaStream_t stream, bool wait, const void* caller);
cudaError_t copy_from_symbol(void* to, const SymbolRange& from, cudaMemcpyKind kind,
                             cudaStream_t stream, bool wait, const void* caller);
cudaError_t symbol_address(void** address, const void* symbol, const void* caller);

cudaError_t set_function_attribute(const void* function, cudaFuncAttribute attribute, int value,
                                   const void* caller);
cudaError_t function_attributes(cudaFuncAttributes* attributes, const void* function,
                                const void* caller);
cudaError_t active_blocks(int* blocks, const void* function, int block_size,
                          std::size_t dynamic_shared, const void* caller);
cudaError_t best_block_size(int* min_grid, int* block_size, const void* function,
                            std::size_t dynamic_shared, int limit, const void* caller);

/// Any pointer, to objects or to functions, as the plain address that the functions above take.
template <class T>
const void* plain_address(T* p) {
  if constexpr (std::is_function_v<T>) {
    return reinterpret_cast<const void*>(p);
  } else {
    return const_cast<const void*>(static_cast<const volatile void*>(p));
  }
}

}  // namespace simt

// ---- typed forms of the memory functions --------------------------------------------------------

template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMalloc(T** pointer, std::size_t size) {
  return simt::allocate_device(reinterpret_cast<void**>(pointer), size, simt::type_of<T>(),
                               SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMallocAsync(T** pointer, std::size_t size,
                                                     cudaStream_t stream) {
  return simt::allocate_in_stream(reinterpret_cast<void**>(pointer), size, simt::type_of<T>(),
                                  stream, SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMallocManaged(T** pointer, std::size_t size,
                                                       unsigned flags = cudaMemAttachGlobal) {
  return simt::allocate_managed(reinterpret_cast<void**>(pointer), size, flags, simt::type_of<T>(),
                                SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMallocHost(T** pointer, std::size_t size,
                                                    unsigned flags = cudaHostAllocDefault) {
  return simt::allocate_pinned(reinterpret_cast<void**>(pointer), size, flags, simt::type_of<T>(),
                               SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaHostAlloc(T** pointer, std::size_t size, unsigned flags) {
  return simt::allocate_pinned(reinterpret_cast<void**>(pointer), size, flags, simt::type_of<T>(),
                               SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaHostGetDevicePointer(T** device, void* host,
                                                              unsigned flags) {
  return cudaHostGetDevicePointer(reinterpret_cast<void**>(device), host, flags);
}

// ---- symbols: variables declared __device__ or __constant__ -------------------------------------

template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMemcpyToSymbol(
    const T& symbol, const void* from, std::size_t count, std::size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return simt::copy_to_symbol({&symbol, sizeof symbol, offset, count}, from, kind, nullptr, true,
                              SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMemcpyToSymbolAsync(
    const T& symbol, const void* from, std::size_t count, std::size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr) {
  return simt::copy_to_symbol({&symbol, sizeof symbol, offset, count}, from, kind, stream, false,
                              SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMemcpyFromSymbol(
    void* to, const T& symbol, std::size_t count, std::size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return simt::copy_from_symbol(to, {&symbol, sizeof symbol, offset, count}, kind, nullptr, true,
                                SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMemcpyFromSymbolAsync(
    void* to, const T& symbol, std::size_t count, std::size_t offset = 0,
    cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = nullptr) {
  return simt::copy_from_symbol(to, {&symbol, sizeof symbol, offset, count}, kind, stream, false,
                                SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  return simt::symbol_address(address, &symbol, SIMT_CALLER);
}

// ---- kernels as functions: attributes and occupancy ---------------------------------------------

template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaFuncSetAttribute(Kernel* kernel,
                                                          cudaFuncAttribute attribute, int value) {
  return simt::set_function_attribute(simt::plain_address(kernel), attribute, value, SIMT_CALLER);
}
template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                                           Kernel* kernel) {
  return simt::function_attributes(attributes, simt::plain_address(kernel), SIMT_CALLER);
}
/// Counts threads, blocks and dynamic shared memory; registers and static shared memory are not
/// known.
template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int* blocks, Kernel* kernel, int block_size, std::size_t dynamic_shared) {
  return simt::active_blocks(blocks, simt::plain_address(kernel), block_size, dynamic_shared,
                             SIMT_CALLER);
}
template <class Kernel>
SIMT_API_TEMPLATE inline cudaError_t cudaOccupancyMaxPotentialBlockSize(
    int* min_grid, int* block_size, Kernel* kernel, std::size_t dynamic_shared = 0,
    int block_size_limit = 0) {
  return simt::best_block_size(min_grid, block_size, simt::plain_address(kernel), dynamic_shared,
                               block_size_limit, SIMT_CALLER);
}
