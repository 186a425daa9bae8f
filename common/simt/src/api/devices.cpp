// The runtime API: which device is current, and which devices are peers.
#include <fmt/format.h>

#include <cstring>
#include <string>

#include "api/allocations.hpp"
#include "api/errors.hpp"
#include "api/launches.hpp"
#include "api/queues.hpp"
#include "memory/devices.hpp"
#include "simt/testing.hpp"

namespace {

/// True if kernels of one device can reach the memory of the other.
bool can_be_peers(int device, int peer) { return device != peer && simt::peer_access(); }

}  // namespace

cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  simt::finish_device(simt::current_device());
  return simt::sticky_error();
}

cudaError_t cudaDeviceReset() {
  static_cast<void>(simt::enter_to_give_back(SIMT_CALLER));
  simt::drop_queues(simt::current_device());
  simt::free_everything(simt::current_device());
  simt::forget_grants();
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return simt::failed(cudaErrorInvalidValue);
  *count = simt::device_count();
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return simt::failed(cudaErrorInvalidValue);
  *device = simt::current_device();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  simt::set_current_device(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (can == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (!simt::is_device(device) || !simt::is_device(peer)) {
    return simt::failed(cudaErrorInvalidDevice);
  }
  *can = can_be_peers(device, peer) ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const int device = simt::current_device();
  if (!simt::is_device(peer) || peer == device) return simt::failed(cudaErrorInvalidDevice);
  if (flags != 0) return simt::failed(cudaErrorInvalidValue);
  if (!can_be_peers(device, peer)) return simt::failed(cudaErrorPeerAccessUnsupported);
  const std::uint32_t peers = simt::peers_of(device);
  if ((peers & simt::bit(peer)) != 0) return simt::failed(cudaErrorPeerAccessAlreadyEnabled);
  simt::set_peers(device, peers | simt::bit(peer));
  return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const int device = simt::current_device();
  if (!simt::is_device(peer) || peer == device) return simt::failed(cudaErrorInvalidDevice);
  const std::uint32_t peers = simt::peers_of(device);
  if ((peers & simt::bit(peer)) == 0) return simt::failed(cudaErrorPeerAccessNotEnabled);
  simt::set_peers(device, peers & ~simt::bit(peer));
  return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (value == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (!simt::is_device(from) || !simt::is_device(to) || from == to) {
    return simt::failed(cudaErrorInvalidDevice);
  }
  switch (attribute) {
    case cudaDevP2PAttrPerformanceRank:  // 0 is the fastest link, and all are alike
      *value = 0;
      return cudaSuccess;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
      *value = can_be_peers(from, to) ? 1 : 0;
      return cudaSuccess;
    case cudaDevP2PAttrCudaArrayAccessSupported:  // there are no arrays
      *value = 0;
      return cudaSuccess;
  }
  return simt::failed(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  cudaDeviceProp properties;
  if (text == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device)) return error;
  const std::string id = fmt::format("{:04X}:{:02X}:{:02X}.0", properties.pciDomainID,
                                     properties.pciBusID, properties.pciDeviceID);
  if (length <= static_cast<int>(id.size())) return simt::failed(cudaErrorInvalidValue);
  std::memcpy(text, id.c_str(), id.size() + 1);
  return cudaSuccess;
}
