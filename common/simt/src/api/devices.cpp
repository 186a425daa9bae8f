// The runtime API: which device is current, which devices are peers, what the program wishes of them.
#include <array>

#include "api/allocations.hpp"
#include "api/captures.hpp"
#include "api/errors.hpp"
#include "api/launches.hpp"
#include "api/queues.hpp"
#include "memory/devices.hpp"
#include "memory/heap.hpp"
#include "simt/testing.hpp"

namespace {

/// True if kernels of one device can reach the memory of the other.
bool can_be_peers(int device, int peer) { return device != peer && simt::peer_access(); }

/// What the program has asked of a device. Nothing here follows it but the answers.
struct Wishes {
  unsigned flags = cudaDeviceScheduleAuto;
  cudaFuncCache cache = cudaFuncCachePreferNone;
  // By cudaLimit, as an H200 begins, but without a part of the L2 cache that persists.
  std::array<std::size_t, 7> limits{1024, 8'650'752, simt::kHeapSize, 0, 2048, 64, 0};
};

/// Null for a limit that this kind of device does not have.
std::size_t* find_limit(Wishes& of, cudaLimit limit) {
  const auto index = static_cast<std::size_t>(limit);
  const bool known = index < of.limits.size() && limit != cudaLimitDevRuntimeSyncDepth;
  return known ? &of.limits[index] : nullptr;
}

Wishes& wishes() {
  static std::array<Wishes, simt::kMostDevices> of_device;
  return of_device[static_cast<unsigned>(simt::current_device())];
}

bool known_flags(unsigned flags) {
  const unsigned schedule = flags & cudaDeviceScheduleMask;
  return (flags & ~cudaDeviceMask) == 0 && (schedule & (schedule - 1)) == 0;
}

}  // namespace

cudaError_t cudaDeviceSynchronize() {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (const cudaError_t error = simt::check_wait(simt::current_device())) return error;
  simt::finish_device(simt::current_device());
  return simt::sticky_error();
}

cudaError_t cudaDeviceReset() {
  if (simt::enter_to_give_back(SIMT_CALLER) == cudaSuccess) {
    simt::finish_device(simt::current_device());  // what kernels print is to be seen
  }
  simt::drop_queues(simt::current_device());  // what was queued after a kernel that failed
  simt::free_everything(simt::current_device());
  simt::reset_heap(simt::current_device());
  simt::forget_grants();
  wishes() = {};
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) { return simt::hand_out(count, simt::device_count()); }

cudaError_t cudaGetDevice(int* device) { return simt::hand_out(device, simt::current_device()); }

cudaError_t cudaSetDevice(int device) {
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  simt::set_current_device(device);
  return cudaSuccess;
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  const bool valid = (flags & cudaInitDeviceFlagsAreValid) != 0;
  if ((flags & ~cudaInitDeviceFlagsAreValid) != 0 || (valid && !known_flags(device_flags))) {
    return simt::failed(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

cudaError_t cudaSetValidDevices(int* list, int count) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (count < 0 || (list == nullptr && count > 0)) return simt::failed(cudaErrorInvalidValue);
  if (count > simt::device_count()) return simt::failed(cudaErrorInvalidDevice);
  for (int i = 0; i < count; ++i) {
    if (!simt::is_device(list[i])) return simt::failed(cudaErrorInvalidDevice);
  }
  simt::set_current_device(count == 0 ? 0 : list[0]);
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!known_flags(flags)) return simt::failed(cudaErrorInvalidValue);
  wishes().flags = flags;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::hand_out(flags, wishes().flags | cudaDeviceMapHost);  // always possible
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, std::size_t value) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  std::size_t* const place = find_limit(wishes(), limit);
  if (place == nullptr) return simt::failed(cudaErrorUnsupportedLimit);
  *place = value;
  if (limit == cudaLimitMallocHeapSize) simt::set_heap_size(simt::current_device(), value);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (value == nullptr) return simt::failed(cudaErrorInvalidValue);
  const std::size_t* const place = find_limit(wishes(), limit);
  if (place == nullptr) return simt::failed(cudaErrorUnsupportedLimit);
  *value = *place;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache wish) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (wish < cudaFuncCachePreferNone || wish > cudaFuncCachePreferEqual) {
    return simt::failed(cudaErrorInvalidValue);
  }
  wishes().cache = wish;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* wish) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::hand_out(wish, wishes().cache);
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig wish) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const bool known = wish >= cudaSharedMemBankSizeDefault && wish <= cudaSharedMemBankSizeEightByte;
  return known ? cudaSuccess : simt::failed(cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::hand_out(config, cudaSharedMemBankSizeFourByte);  // on every GPU of today
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
