// The runtime API: pools of memory, and where managed memory should be.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "api/allocations.hpp"
#include "api/errors.hpp"
#include "api/queues.hpp"
#include "base/limits.hpp"
#include "memory/allocations.hpp"
#include "memory/devices.hpp"

/// Memory comes from the device as from cudaMalloc: what a pool keeps for later is only counted.
struct CUmemPoolHandle_st {
  CUmemPoolHandle_st(int of_device, bool standard) : device(of_device), is_default(standard) {}
  int device;
  bool is_default;
  bool destroyed = false;
  std::uint32_t others = 0;     // that have access to its memory: a bit for each
  std::uint64_t threshold = 0;  // bytes that it keeps when memory is given back
  std::uint64_t used = 0, most_used = 0, reserved = 0, most_reserved = 0;
  std::array<int, 3> reuse{1, 1,
                           1};  // by cudaMemPoolAttr: rules for reuse, which changes no address
};

namespace simt {
namespace {

constexpr std::uint64_t kPoolUnit = std::uint64_t(32) << 20;  // what a pool takes from the device

struct Pools {
  std::vector<std::unique_ptr<CUmemPoolHandle_st>> all;
  std::array<cudaMemPool_t, kMostDevices> of_device{}, standard{};

  Pools() {
    for (int device = 0; device < kMostDevices; ++device) {
      of_device[static_cast<unsigned>(device)] = standard[static_cast<unsigned>(device)] =
          add(device, true);
    }
  }
  cudaMemPool_t add(int device, bool is_default) {
    all.push_back(std::make_unique<CUmemPoolHandle_st>(device, is_default));
    return all.back().get();
  }
};

Pools& pools() {
  static Pools& p = *new Pools;
  return p;
}

std::uint64_t whole_units(std::uint64_t bytes) {
  return (bytes + kPoolUnit - 1) / kPoolUnit * kPoolUnit;
}

/// The pool keeps so much, and what is in use.
void shrink(CUmemPoolHandle_st& pool, std::uint64_t kept) {
  pool.reserved = std::max(whole_units(pool.used), std::min(pool.reserved, whole_units(kept)));
}

bool is_high_mark(cudaMemPoolAttr attribute) {
  return attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
}

int* reuse_rule(CUmemPoolHandle_st& pool, cudaMemPoolAttr attribute) {
  const auto index = static_cast<std::size_t>(attribute) - 1;
  return index < pool.reuse.size() ? &pool.reuse[index] : nullptr;
}

std::uint64_t* amount(CUmemPoolHandle_st& pool, cudaMemPoolAttr attribute) {
  switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
      return &pool.threshold;
    case cudaMemPoolAttrReservedMemCurrent:
      return &pool.reserved;
    case cudaMemPoolAttrReservedMemHigh:
      return &pool.most_reserved;
    case cudaMemPoolAttrUsedMemCurrent:
      return &pool.used;
    case cudaMemPoolAttrUsedMemHigh:
      return &pool.most_used;
    default:
      return nullptr;
  }
}

/// Success for memory that both the host and devices have.
cudaError_t check_managed(const void* p, std::size_t count) {
  Space space;
  const bool managed =
      p != nullptr && count > 0 && find_space(p, count, &space) && space == Space::managed;
  return managed ? cudaSuccess : failed(cudaErrorInvalidValue);
}

cudaError_t check_location(const cudaMemLocation& location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice:
      return is_device(location.id) ? cudaSuccess : failed(cudaErrorInvalidDevice);
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent:
      return cudaSuccess;
    default:
      return failed(cudaErrorInvalidValue);
  }
}

}  // namespace

bool is_pool(cudaMemPool_t pool) {
  const auto& all = pools().all;
  return pool != nullptr && std::any_of(all.begin(), all.end(), [&](const auto& owned) {
           return owned.get() == pool && !pool->destroyed;
         });
}

int device_of_pool(cudaMemPool_t pool) { return pool->device; }

bool is_open(cudaMemPool_t pool) { return pool->others != 0; }

cudaMemPool_t pool_of_device(int device) {
  return pools().of_device[static_cast<unsigned>(device)];
}

void pool_gave(cudaMemPool_t pool, std::size_t size) {
  pool->used += size;
  pool->most_used = std::max(pool->most_used, pool->used);
  pool->reserved = std::max(pool->reserved, whole_units(pool->used));
  pool->most_reserved = std::max(pool->most_reserved, pool->reserved);
}

void pool_got_back(cudaMemPool_t pool, std::size_t size) {
  pool->used -= size;
  shrink(*pool, pool->threshold);
}

}  // namespace simt

// ---- pools --------------------------------------------------------------------------------------

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (pool == nullptr || properties == nullptr ||
      properties->allocType != cudaMemAllocationTypePinned) {
    return simt::failed(cudaErrorInvalidValue);
  }
  if (properties->handleTypes != cudaMemHandleTypeNone ||
      properties->location.type != cudaMemLocationTypeDevice) {
    return simt::failed(cudaErrorNotSupported);
  }
  if (!simt::is_device(properties->location.id)) return simt::failed(cudaErrorInvalidDevice);
  *pool = simt::pools().add(properties->location.id, false);
  return cudaSuccess;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  const cudaError_t error = simt::enter_to_give_back(SIMT_CALLER);
  if (!simt::is_pool(pool) || pool->is_default) {
    return error != cudaSuccess ? error : simt::failed(cudaErrorInvalidValue);
  }
  // What came from it stays until it is freed. The handle never becomes a valid one again.
  pool->destroyed = true;
  for (int device = 0; device < simt::kMostDevices; ++device) {
    const auto d = static_cast<unsigned>(device);
    if (simt::pools().of_device[d] == pool) simt::pools().of_device[d] = simt::pools().standard[d];
  }
  return error;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t bytes_to_keep) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_pool(pool)) return simt::failed(cudaErrorInvalidValue);
  simt::shrink(*pool, bytes_to_keep);
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_pool(pool) || value == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (int* const rule = simt::reuse_rule(*pool, attribute)) {
    *rule = *static_cast<const int*>(value);
    return cudaSuccess;
  }
  std::uint64_t* const place = simt::amount(*pool, attribute);
  const std::uint64_t wanted = *static_cast<const std::uint64_t*>(value);
  const bool is_high = simt::is_high_mark(attribute);
  if (place == nullptr || (is_high && wanted != 0) ||
      (!is_high && attribute != cudaMemPoolAttrReleaseThreshold)) {
    return simt::failed(cudaErrorInvalidValue);
  }
  *place = wanted;
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_pool(pool) || value == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (const int* const rule = simt::reuse_rule(*pool, attribute)) {
    *static_cast<int*>(value) = *rule;
    return cudaSuccess;
  }
  const std::uint64_t* const place = simt::amount(*pool, attribute);
  if (place == nullptr) return simt::failed(cudaErrorInvalidValue);
  *static_cast<std::uint64_t*>(value) = *place;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list,
                                 std::size_t count) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_pool(pool) || list == nullptr) return simt::failed(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < count; ++i) {
    const cudaMemLocation& location = list[i].location;
    const bool all = list[i].flags == cudaMemAccessFlagsProtReadWrite;
    if (location.type != cudaMemLocationTypeDevice ||
        (!all && list[i].flags != cudaMemAccessFlagsProtNone) ||
        (!all && location.id == pool->device)) {
      return simt::failed(cudaErrorInvalidValue);
    }
    if (!simt::is_device(location.id)) return simt::failed(cudaErrorInvalidDevice);
    if (location.id != pool->device && !simt::peer_access()) {
      return simt::failed(cudaErrorPeerAccessUnsupported);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t device = simt::bit(list[i].location.id) & ~simt::bit(pool->device);
    pool->others = list[i].flags == cudaMemAccessFlagsProtNone ? pool->others & ~device
                                                               : pool->others | device;
  }
  if (simt::is_open(pool)) simt::open_memory_of(pool);
  return cudaSuccess;
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 cudaMemLocation* location) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_pool(pool) || flags == nullptr || location == nullptr ||
      location->type != cudaMemLocationTypeDevice) {
    return simt::failed(cudaErrorInvalidValue);
  }
  if (!simt::is_device(location->id)) return simt::failed(cudaErrorInvalidDevice);
  const std::uint32_t all = pool->others | simt::bit(pool->device);
  *flags = (all & simt::bit(location->id)) != 0 ? cudaMemAccessFlagsProtReadWrite
                                                : cudaMemAccessFlagsProtNone;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (pool == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  *pool = simt::pools().standard[static_cast<unsigned>(device)];
  return cudaSuccess;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (pool == nullptr) return simt::failed(cudaErrorInvalidValue);
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  *pool = simt::pool_of_device(device);
  return cudaSuccess;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  if (!simt::is_pool(pool) || pool->device != device) return simt::failed(cudaErrorInvalidValue);
  simt::pools().of_device[static_cast<unsigned>(device)] = pool;
  return cudaSuccess;
}

// ---- managed memory -----------------------------------------------------------------------------

cudaError_t cudaMemPrefetchAsync(const void* pointer, std::size_t count, cudaMemLocation location,
                                 unsigned flags, cudaStream_t handle) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (simt::find_stream(handle) == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (flags != 0) return simt::failed(cudaErrorInvalidValue);
  if (const cudaError_t error = simt::check_location(location)) return error;
  return simt::check_managed(pointer, count);
}

cudaError_t cudaMemAdvise(const void* pointer, std::size_t count, cudaMemoryAdvise advice,
                          cudaMemLocation location) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (advice < cudaMemAdviseSetReadMostly || advice > cudaMemAdviseUnsetAccessedBy) {
    return simt::failed(cudaErrorInvalidValue);
  }
  // "Mostly read" is true everywhere, and a wish that is taken back needs no place.
  const bool located = advice == cudaMemAdviseSetPreferredLocation ||
                       advice == cudaMemAdviseSetAccessedBy ||
                       advice == cudaMemAdviseUnsetAccessedBy;
  if (located) {
    if (const cudaError_t error = simt::check_location(location)) return error;
  }
  return simt::check_managed(pointer, count);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void* pointer, std::size_t,
                                     unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (simt::find_stream(handle) == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  const bool known =
      flags == cudaMemAttachGlobal || flags == cudaMemAttachHost || flags == cudaMemAttachSingle;
  return known ? simt::check_managed(pointer, 1) : simt::failed(cudaErrorInvalidValue);
}
