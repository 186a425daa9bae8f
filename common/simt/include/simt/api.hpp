// The CUDA runtime API of the CPU device, for host code. Names, numbers and error codes are CUDA
// 13's. common/simt/README.md says what the model of streams leaves out. Here: errors and devices.
// As CUDA's: what goes wrong is the cudaError_t that comes back, nothing throws, and sizes are in bytes. Unlike CUDA's: one thread
// of the host makes all calls, and a call from a second one ends the program with a message.
#pragma once

#include <cstddef>

#include "simt/api_graphs.hpp"
#include "simt/api_kernels.hpp"
#include "simt/api_memory.hpp"
#include "simt/api_streams.hpp"
#include "simt/api_textures.hpp"
#include "simt/api_types.hpp"
#include "simt/platform.hpp"

// ---- errors -------------------------------------------------------------------------------------

const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
/// The last error of any call, and forgets it. After a sticky error the next call brings it back.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();

// ---- which device -------------------------------------------------------------------------------

/// SIMT_DEVICES, or 2.
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
/// The first of these devices becomes current. cudaSetDevice may still take any other.
cudaError_t cudaSetValidDevices(int* devices, int count);
/// The device that is most like what is asked for: all are alike, so device 0.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted);
/// How the host waits. It changes nothing here; the flags are told when asked for.
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaGetDeviceFlags(unsigned* flags);
/// Runs everything that is queued in every stream of the device.
cudaError_t cudaDeviceSynchronize();
/// Frees all memory of the device and drops what is queued.
cudaError_t cudaDeviceReset();

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
/// Launches of the current device from here on reach the memory of `peer`.
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);

// ---- what the devices are -------------------------------------------------------------------------

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to);
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text);
/// Both versions are 13000: the CUDA whose behaviour this device follows.
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDriverGetVersion(int* version);

// ---- wishes and limits of the current device ------------------------------------------------------

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value);
cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit);
/// Wishes that an H100 does not follow; here they change nothing.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache wish);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* wish);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig wish);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* wish);

// ---- what CUDA 13 no longer has -------------------------------------------------------------------

SIMT_REMOVED("CUDA 13 has no cudaThreadSynchronize: use cudaDeviceSynchronize")
SIMT_TRANSPARENT cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
SIMT_REMOVED("CUDA 13 has no cudaThreadExit: use cudaDeviceReset")
SIMT_TRANSPARENT cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
SIMT_REMOVED("CUDA 13 has no cudaThreadSetLimit: use cudaDeviceSetLimit")
SIMT_TRANSPARENT cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value) {
  return cudaDeviceSetLimit(limit, value);
}
SIMT_REMOVED("CUDA 13 has no cudaThreadGetLimit: use cudaDeviceGetLimit")
SIMT_TRANSPARENT cudaError_t cudaThreadGetLimit(std::size_t* value, cudaLimit limit) {
  return cudaDeviceGetLimit(value, limit);
}
SIMT_REMOVED("CUDA 13 has no cudaThreadSetCacheConfig: use cudaDeviceSetCacheConfig")
SIMT_TRANSPARENT cudaError_t cudaThreadSetCacheConfig(cudaFuncCache wish) {
  return cudaDeviceSetCacheConfig(wish);
}
SIMT_REMOVED("CUDA 13 has no cudaThreadGetCacheConfig: use cudaDeviceGetCacheConfig")
SIMT_TRANSPARENT cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* wish) {
  return cudaDeviceGetCacheConfig(wish);
}
