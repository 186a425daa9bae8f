// The CUDA runtime API: memory. Allocations, copies, pools, variables declared __device__.
#pragma once

#include <cstddef>

#include "simt/api_types.hpp"
#include "simt/element_type.hpp"
#include "simt/platform.hpp"

// ---- allocations --------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** pointer, std::size_t size);
/// Rows that begin at multiples of `pitch`, which is a multiple of 512. The bytes between the end of
/// a row and the next one are memory like any other: uninitialised until something is written.
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height);
cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent);
cudaError_t cudaMallocManaged(void** pointer, std::size_t size,
                              unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaMallocHost(void** pointer, std::size_t size, unsigned flags = cudaHostAllocDefault);
cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned flags);
cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
cudaError_t cudaHostGetFlags(unsigned* flags, void* host);
/// Waits for the device that the memory was made on, as cudaFreeHost does.
cudaError_t cudaFree(void* pointer);
cudaError_t cudaFreeHost(void* pointer);
/// The host's own memory becomes pinned memory, at the same address.
cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned flags);
cudaError_t cudaHostUnregister(void* pointer);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer);
/// Of the current device.
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);

// ---- managed memory: where it should be, which is the same everywhere here ------------------------

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t count, cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream = nullptr);
cudaError_t cudaMemAdvise(const void* pointer, std::size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, std::size_t length = 0,
                                     unsigned flags = cudaMemAttachSingle);
namespace simt {
/// Of a device, or of the host: cudaCpuDeviceId.
SIMT_TRANSPARENT cudaMemLocation location_of(int device) {
  return {device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice, device};
}
}  // namespace simt
SIMT_REMOVED("CUDA 13 wants a cudaMemLocation: {cudaMemLocationTypeDevice, device}, 0, stream")
SIMT_TRANSPARENT cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t count,
                                                  int device, cudaStream_t stream = nullptr) {
  return cudaMemPrefetchAsync(pointer, count, simt::location_of(device), 0, stream);
}
SIMT_REMOVED("CUDA 13 wants a cudaMemLocation: {cudaMemLocationTypeDevice, device}")
SIMT_TRANSPARENT cudaError_t cudaMemAdvise(const void* pointer, std::size_t count,
                                           cudaMemoryAdvise advice, int device) {
  return cudaMemAdvise(pointer, count, advice, simt::location_of(device));
}

// ---- pools --------------------------------------------------------------------------------------

cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream);
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream);
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream);
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties);
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes_to_keep);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value);
/// Which other devices may access the pool's memory. Here all may, once one may.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list,
                                 std::size_t count);
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device);
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);

// ---- copies and memsets ---------------------------------------------------------------------------

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
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters);
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* pointer, int value, std::size_t count);
cudaError_t cudaMemsetAsync(void* pointer, int value, std::size_t count,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width,
                         std::size_t height);
cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width,
                              std::size_t height, cudaStream_t stream = nullptr);
cudaError_t cudaMemset3D(cudaPitchedPtr pitched, int value, cudaExtent extent);
cudaError_t cudaMemset3DAsync(cudaPitchedPtr pitched, int value, cudaExtent extent,
                              cudaStream_t stream = nullptr);

// ---- what the templates below call --------------------------------------------------------------

namespace simt {

cudaError_t allocate_device(void** pointer, std::size_t size, ElementType element,
                            const void* caller);
cudaError_t allocate_rows(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                          ElementType element, const void* caller);
/// From a pool; null means the pool of the stream's device.
cudaError_t allocate_in_stream(void** pointer, std::size_t size, ElementType element,
                               cudaMemPool_t pool, cudaStream_t stream, const void* caller);
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
cudaError_t symbol_size(std::size_t* size, const void* symbol, const void* caller);

}  // namespace simt

// ---- typed forms of the memory functions --------------------------------------------------------

template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMalloc(T** pointer, std::size_t size) {
  return simt::allocate_device(reinterpret_cast<void**>(pointer), size, simt::type_of<T>(),
                               SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch,
                                                     std::size_t width, std::size_t height) {
  return simt::allocate_rows(reinterpret_cast<void**>(pointer), pitch, width, height,
                             simt::type_of<T>(), SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMallocAsync(T** pointer, std::size_t size,
                                                     cudaStream_t stream) {
  return simt::allocate_in_stream(reinterpret_cast<void**>(pointer), size, simt::type_of<T>(),
                                  nullptr, stream, SIMT_CALLER);
}
/// As cudaMallocFromPoolAsync.
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMallocAsync(T** pointer, std::size_t size,
                                                     cudaMemPool_t pool, cudaStream_t stream) {
  return simt::allocate_in_stream(reinterpret_cast<void**>(pointer), size, simt::type_of<T>(), pool,
                                  stream, SIMT_CALLER);
}
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaMallocFromPoolAsync(T** pointer, std::size_t size,
                                                             cudaMemPool_t pool,
                                                             cudaStream_t stream) {
  return simt::allocate_in_stream(reinterpret_cast<void**>(pointer), size, simt::type_of<T>(), pool,
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
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaStreamAttachMemAsync(
    cudaStream_t stream, T* pointer, std::size_t length = 0, unsigned flags = cudaMemAttachSingle) {
  return cudaStreamAttachMemAsync(stream, static_cast<void*>(pointer), length, flags);
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
template <class T>
SIMT_API_TEMPLATE inline cudaError_t cudaGetSymbolSize(std::size_t* size, const T& symbol) {
  return simt::symbol_size(size, &symbol, SIMT_CALLER);
}
