// Several devices: how many there are, which one is current, and who reaches whose memory.
#include "devices.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <string>

#include "base/environment.hpp"
#include "memory.hpp"
#include "streams.hpp"

namespace simt {
namespace {

struct Devices {
  int count = environment().devices;
  bool peers_allowed = environment().peer_access;
  bool host_atomics = environment().host_atomics;
  int current = 0;
  std::uint32_t used = 0;                           // a bit for each device
  std::array<std::uint32_t, kMostDevices> peers{};  // of each device: whose memory it reaches
};

Devices& devices() {
  static Devices& d = *new Devices;
  return d;
}

constexpr std::uint32_t bit(int device) { return std::uint32_t(1) << device; }

}  // namespace

int device_count() { return devices().count; }
bool is_device(int device) { return device >= 0 && device < devices().count; }
int current_device() { return devices().current; }

void note_use(int device) { devices().used |= bit(device); }
bool several_devices() {
  const std::uint32_t used = devices().used;
  return (used & (used - 1)) != 0;
}

std::uint32_t reachable_from(int device) {
  return bit(kEveryDevice) | bit(device) | devices().peers[static_cast<unsigned>(device)];
}

std::uint32_t memory_of_several() {
  std::uint32_t mask = bit(kEveryDevice);
  for (const std::uint32_t reached : devices().peers) mask |= reached;
  return mask;
}

void reset_devices() {
  Devices& d = devices();
  d.current = 0;
  d.used = 0;
  d.peers = {};
}

void set_devices(int count) {
  if (count < 1 || count > kMostDevices) {
    throw std::invalid_argument(
        fmt::format("simt::set_devices({}): 1 to {} devices are possible", count, kMostDevices));
  }
  for (int device = count; device < devices().count; ++device) {
    if (allocated_bytes(device) == 0) continue;
    throw std::logic_error(fmt::format("simt::set_devices({}): device {} still has {} bytes", count,
                                       device, allocated_bytes(device)));
  }
  drain_all_streams();
  reset_device();
  devices().count = count;
}

void set_peer_access(bool allowed) {
  devices().peers_allowed = allowed;
  if (!allowed) devices().peers = {};
}

bool peer_access() { return devices().peers_allowed; }

void set_host_atomics(bool supported) { devices().host_atomics = supported; }
bool host_atomics() { return devices().host_atomics; }

namespace {

/// True if kernels of one device can reach the memory of the other.
bool can_be_peers(int device, int peer) { return device != peer && devices().peers_allowed; }

}  // namespace
}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

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
  simt::devices().current = device;
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (can == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (!simt::is_device(device) || !simt::is_device(peer)) {
    return simt::failed(cudaErrorInvalidDevice);
  }
  *can = simt::can_be_peers(device, peer) ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const int device = simt::current_device();
  if (!simt::is_device(peer) || peer == device) return simt::failed(cudaErrorInvalidDevice);
  if (flags != 0) return simt::failed(cudaErrorInvalidValue);
  if (!simt::can_be_peers(device, peer)) return simt::failed(cudaErrorPeerAccessUnsupported);
  std::uint32_t& peers = simt::devices().peers[static_cast<unsigned>(device)];
  if ((peers & simt::bit(peer)) != 0) return simt::failed(cudaErrorPeerAccessAlreadyEnabled);
  peers |= simt::bit(peer);
  return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const int device = simt::current_device();
  if (!simt::is_device(peer) || peer == device) return simt::failed(cudaErrorInvalidDevice);
  std::uint32_t& peers = simt::devices().peers[static_cast<unsigned>(device)];
  if ((peers & simt::bit(peer)) == 0) return simt::failed(cudaErrorPeerAccessNotEnabled);
  peers &= ~simt::bit(peer);
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
      *value = simt::can_be_peers(from, to) ? 1 : 0;
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
