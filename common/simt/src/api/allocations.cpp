// The runtime API: allocations.
#include "api/allocations.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "api/errors.hpp"
#include "api/queues.hpp"
#include "api/work_log.hpp"
#include "memory/allocations.hpp"
#include "memory/devices.hpp"

namespace simt {
namespace {

/// What the program holds, for cudaDeviceReset(): pointer, and whether it is pinned host memory.
std::unordered_map<void*, bool>& held() {
  static auto& map = *new std::unordered_map<void*, bool>;
  return map;
}

cudaError_t take(void** pointer, std::size_t size, Space space, ElementType element, int device,
                 const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (pointer == nullptr) return failed(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  note_use(device);
  const TimedWork timed(Work::Kind::allocation);
  *pointer = allocate(size, space, element, device, caller);
  if (*pointer == nullptr) return failed(cudaErrorMemoryAllocation);
  held()[*pointer] = space == Space::pinned;
  return cudaSuccess;
}

bool holds(void* pointer, bool pinned) {
  const auto it = held().find(pointer);
  return it != held().end() && it->second == pinned;
}

void give_back(void* pointer, bool pinned) {
  const TimedWork timed(Work::Kind::release);
  release(pointer, pinned);
  held().erase(pointer);
}

/// cudaFree and cudaFreeHost. Memory is given back after a sticky error, too, so that a program's
/// clean-up leaves nothing for the next test; the error is returned all the same.
cudaError_t free_now(void* pointer, bool pinned, const void* caller) {
  const cudaError_t error = enter_to_give_back(caller);
  if (pointer == nullptr) return error;
  if (!holds(pointer, pinned)) {
    return error != cudaSuccess ? error : failed(cudaErrorInvalidValue);
  }
  // Waits for the device that the memory was made on. Other devices may still use it: an H200 then
  // stops them with cudaErrorIllegalAddress.
  finish_device(device_of(pointer));
  give_back(pointer, pinned);
  return sticky_error();
}

}  // namespace

cudaError_t allocate_device(void** pointer, std::size_t size, ElementType element,
                            const void* caller) {
  return take(pointer, size, Space::device, element, current_device(), caller);
}

cudaError_t allocate_managed(void** pointer, std::size_t size, unsigned flags, ElementType element,
                             const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
    return failed(cudaErrorInvalidValue);
  }
  return take(pointer, size, Space::managed, element, current_device(), caller);
}

cudaError_t allocate_pinned(void** pointer, std::size_t size, unsigned flags, ElementType element,
                            const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  constexpr unsigned known =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if ((flags & ~known) != 0) return failed(cudaErrorInvalidValue);
  return take(pointer, size, Space::pinned, element, current_device(), caller);
}

cudaError_t allocate_in_stream(void** pointer, std::size_t size, ElementType element,
                               cudaStream_t handle, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  const CUstream_st* stream = find_stream(handle);
  if (stream == nullptr) return failed(cudaErrorInvalidResourceHandle);
  return take(pointer, size, Space::device, element, stream->device, caller);
}

void list_memory(std::vector<Holding>& list) {
  for (const auto& [pointer, pinned] : held()) {
    const Allocation& a = *owner_of(reinterpret_cast<std::uintptr_t>(pointer));
    using Kind = Holding::Kind;
    const Kind kind = pinned                      ? Kind::pinned_memory
                      : a.space == Space::managed ? Kind::managed_memory
                                                  : Kind::device_memory;
    list.push_back({kind, pointer, a.size, a.allocated_by});
  }
  // Addresses are given in ascending order, and never again.
  const auto by_age = [](const Holding& a, const Holding& b) { return a.handle < b.handle; };
  std::sort(list.begin(), list.end(), by_age);
}

void free_everything(int device) {
  const auto all = held();
  for (const auto& [pointer, pinned] : all) {
    if (device_of(pointer) == device) give_back(pointer, pinned);
  }
}

}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  return simt::allocate_device(pointer, size, {}, SIMT_CALLER);
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream) {
  return simt::allocate_in_stream(pointer, size, {}, stream, SIMT_CALLER);
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t size, unsigned flags) {
  return simt::allocate_managed(pointer, size, flags, {}, SIMT_CALLER);
}

cudaError_t cudaMallocHost(void** pointer, std::size_t size, unsigned flags) {
  return simt::allocate_pinned(pointer, size, flags, {}, SIMT_CALLER);
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned flags) {
  return simt::allocate_pinned(pointer, size, flags, {}, SIMT_CALLER);
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  simt::Space space;
  if (device == nullptr || flags != 0 || !simt::find_space(host, 1, &space) ||
      space != simt::Space::pinned) {
    return simt::failed(cudaErrorInvalidValue);
  }
  *device = host;
  return cudaSuccess;
}

cudaError_t cudaFree(void* pointer) { return simt::free_now(pointer, false, SIMT_CALLER); }

cudaError_t cudaFreeHost(void* pointer) { return simt::free_now(pointer, true, SIMT_CALLER); }

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  if (simt::sticky_error() != cudaSuccess) return simt::free_now(pointer, false, SIMT_CALLER);
  if (const cudaError_t error = simt::enter_to_give_back(SIMT_CALLER)) return error;
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (pointer == nullptr) return cudaSuccess;
  if (!simt::holds(pointer, false)) return simt::failed(cudaErrorInvalidValue);
  simt::enqueue(*stream, [=] {
    simt::give_back(pointer, false);
    return cudaSuccess;
  });
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (attributes == nullptr) return simt::failed(cudaErrorInvalidValue);
  void* p = const_cast<void*>(pointer);
  simt::Space space;
  if (!simt::find_space(pointer, 1, &space)) {
    *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, p};  // -2: cudaInvalidDeviceId
  } else if (space == simt::Space::pinned) {
    *attributes = {cudaMemoryTypeHost, simt::device_of(p), p, p};
  } else if (space == simt::Space::managed) {
    *attributes = {cudaMemoryTypeManaged, simt::device_of(p), p, p};
  } else {
    *attributes = {cudaMemoryTypeDevice, simt::device_of(p), p, nullptr};
  }
  return cudaSuccess;
}
