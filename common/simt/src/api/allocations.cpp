// The runtime API: allocations.
#include "api/allocations.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "api/captures.hpp"
#include "api/errors.hpp"
#include "api/graph_memory.hpp"
#include "api/queues.hpp"
#include "api/work_log.hpp"
#include "base/program.hpp"
#include "memory/allocations.hpp"
#include "memory/devices.hpp"

namespace simt {
namespace {

// What cudaMallocPitch makes each row begin at, as on an H200.
constexpr std::size_t kRowAlignment = 512;

/// What the program holds, for cudaDeviceReset().
std::unordered_map<void*, Held>& held() {
  static auto& map = *new std::unordered_map<void*, Held>;
  return map;
}

cudaError_t take(void** pointer, std::size_t size, Space space, ElementType element, int device,
                 const void* caller, unsigned flags = 0, cudaMemPool_t pool = nullptr) {
  if (const cudaError_t error = enter(caller)) return error;
  if (const cudaError_t error = check_unsafe()) return error;
  if (pointer == nullptr) return failed(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (size == 0) return cudaSuccess;
  note_use(device);
  const TimedWork timed(Work::Kind::allocation);
  *pointer = allocate(size, space, element, device, caller);
  if (*pointer == nullptr) return failed(cudaErrorMemoryAllocation);
  owner_of(reinterpret_cast<std::uintptr_t>(*pointer))->allocated_after = engine.launch_number;
  held()[*pointer] = {space == Space::pinned, flags, pool};
  if (pool != nullptr) pool_gave(pool, size);
  if (pool != nullptr && is_open(pool)) open_to_every_device(*pointer);
  return cudaSuccess;
}

bool holds(void* pointer, bool pinned) {
  const auto it = held().find(pointer);
  return it != held().end() && it->second.pinned == pinned && !it->second.registered;
}

void give_back(void* pointer, const Release& by) {
  const TimedWork timed(Work::Kind::release);
  const Held memory = held().at(pointer);
  if (memory.of_graph != nullptr) {
    graph_memory_is_freed(memory.of_graph);
    forget_contents(pointer);
    return;
  }
  held().erase(pointer);
  if (memory.registered) {
    unregister_host(pointer);
    return;
  }
  if (memory.pool != nullptr) {
    pool_got_back(memory.pool, owner_of(reinterpret_cast<std::uintptr_t>(pointer))->size);
  }
  release(pointer, memory.pinned, by);
}

/// Who uses memory of a stream must come after its allocation and before its release: for the checker
/// both write all of it.
Transfer transfer_of_all(const char* function, const void* pointer, const void* caller) {
  const Allocation& a = *owner_of(reinterpret_cast<std::uintptr_t>(pointer));
  return {function, caller, {}, {Rows{a.begin, a.size, a.size, 1}}};
}

}  // namespace

// Memory is given back after a sticky error, too, so that a program's
/// clean-up leaves nothing for the next test; the error is returned all the same.
cudaError_t free_now(void* pointer, bool pinned, const char* function, const void* caller) {
  const cudaError_t error = enter_to_give_back(caller);
  if (pointer == nullptr) return error;
  if (const cudaError_t refused = check_unsafe()) return refused;
  if (!holds(pointer, pinned)) {
    return error != cudaSuccess ? error : failed(cudaErrorInvalidValue);
  }
  // Waits for the device that the memory was made on. Other devices may still use it: an H200 then
  // stops them with cudaErrorIllegalAddress.
  finish_device(device_of(pointer));
  give_back(pointer, {function, calls_behind(caller)});
  return sticky_error();
}

cudaError_t allocate_device(void** pointer, std::size_t size, ElementType element,
                            const void* caller) {
  return take(pointer, size, Space::device, element, current_device(), caller);
}

cudaError_t allocate_rows(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                          ElementType element, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  if (pitch == nullptr) return failed(cudaErrorInvalidValue);
  const std::size_t row = (width + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  if (row < width || (height > 0 && row > SIZE_MAX / height)) {
    return failed(cudaErrorMemoryAllocation);
  }
  const cudaError_t error = allocate_device(pointer, row * height, element, caller);
  if (error == cudaSuccess) *pitch = row;
  return error;
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
  return take(pointer, size, Space::pinned, element, current_device(), caller, flags);
}

namespace {

/// A node that allocates memory of the graph.
cudaError_t capture_allocation(void** pointer, std::size_t size, CUstream_st& stream,
                               const void* caller) {
  if (const cudaError_t error = check_work(stream)) return error;
  if (pointer == nullptr || size == 0) return failed(cudaErrorInvalidValue);
  const auto memory = make_graph_memory(size, stream.device, caller);
  if (memory == nullptr) return failed(cudaErrorMemoryAllocation);
  *pointer = memory->pointer;
  return capture_work(stream, AllocationWork{memory, caller});
}

}  // namespace

cudaError_t allocate_in_stream(void** pointer, std::size_t size, ElementType element,
                               cudaMemPool_t pool, cudaStream_t handle, const void* caller) {
  if (const cudaError_t error = enter(caller)) return error;
  CUstream_st* const stream = find_stream(handle);
  if (stream == nullptr) return failed(cudaErrorInvalidResourceHandle);
  if (is_capturing(*stream)) return capture_allocation(pointer, size, *stream, caller);
  if (pool == nullptr) pool = pool_of_device(stream->device);
  if (!is_pool(pool)) return failed(cudaErrorInvalidValue);
  const cudaError_t error =
      take(pointer, size, Space::device, element, device_of_pool(pool), caller, 0, pool);
  if (error == cudaSuccess && size > 0) {
    announce(*stream, transfer_of_all("cudaMallocAsync", *pointer, caller));
  }
  return error;
}

void open_memory_of(cudaMemPool_t pool) {
  for (const auto& [pointer, memory] : held()) {
    if (memory.pool == pool) open_to_every_device(pointer);
  }
}

void hold_graph_memory(const std::shared_ptr<GraphMemory>& memory) {
  held()[memory->pointer].of_graph = memory;
}

void drop_graph_memory(const GraphMemory& memory) { held().erase(memory.pointer); }

void list_memory(std::vector<Holding>& list) {
  for (const auto& [pointer, memory] : held()) {
    if (memory.registered) continue;
    const Allocation& a = *owner_of(reinterpret_cast<std::uintptr_t>(pointer));
    using Kind = Holding::Kind;
    const Kind kind = memory.pinned               ? Kind::pinned_memory
                      : a.space == Space::managed ? Kind::managed_memory
                                                  : Kind::device_memory;
    list.push_back({kind, pointer, a.size, a.allocated_by});
  }
  const auto number = [](const Holding& holding) {
    return owner_of(reinterpret_cast<std::uintptr_t>(holding.handle))->number;
  };
  const auto by_age = [&](const Holding& a, const Holding& b) { return number(a) < number(b); };
  std::sort(list.begin(), list.end(), by_age);
}

void free_everything(int device) {
  const auto all = held();
  for (const auto& [pointer, memory] : all) {
    if (device_of(pointer) == device) give_back(pointer, {"cudaDeviceReset()", {}});
  }
}

}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  return simt::allocate_device(pointer, size, {}, SIMT_CALLER);
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return simt::allocate_rows(pointer, pitch, width, height, {}, SIMT_CALLER);
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (pitched == nullptr) return simt::failed(cudaErrorInvalidValue);
  const std::size_t rows = extent.height * extent.depth;
  if (extent.depth != 0 && rows / extent.depth != extent.height) {
    return simt::failed(cudaErrorMemoryAllocation);
  }
  cudaPitchedPtr made{nullptr, 0, extent.width, extent.height};
  const cudaError_t error =
      simt::allocate_rows(&made.ptr, &made.pitch, extent.width, rows, {}, SIMT_CALLER);
  if (error == cudaSuccess) *pitched = made;
  return error;
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream) {
  return simt::allocate_in_stream(pointer, size, {}, nullptr, stream, SIMT_CALLER);
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return simt::allocate_in_stream(pointer, size, {}, pool, stream, SIMT_CALLER);
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

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const auto it = simt::held().find(host);
  if (flags == nullptr || it == simt::held().end() || !it->second.pinned) {
    return simt::failed(cudaErrorInvalidValue);
  }
  *flags = it->second.flags | cudaHostAllocMapped;  // with unified addresses it always is
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned flags) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  constexpr unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped;
  constexpr unsigned never = cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  if (pointer == nullptr || size == 0 || (flags & ~(known | never)) != 0) {
    return simt::failed(cudaErrorInvalidValue);
  }
  if ((flags & never) != 0) return simt::failed(cudaErrorNotSupported);
  simt::Space space;
  if (simt::find_space(pointer, 1, &space) && space != simt::Space::pinned) {
    return simt::failed(cudaErrorInvalidValue);
  }
  const int device = simt::current_device();
  if (simt::owner_of(reinterpret_cast<std::uintptr_t>(pointer)) != nullptr ||
      simt::register_host(pointer, size, device, SIMT_CALLER) == simt::HostRange::taken) {
    return simt::failed(cudaErrorHostMemoryAlreadyRegistered);
  }
  simt::held()[pointer] = {true, flags, nullptr, true};
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* pointer) {
  const cudaError_t error = simt::enter_to_give_back(SIMT_CALLER);
  const auto it = simt::held().find(pointer);
  if (it == simt::held().end() || !it->second.registered) {
    if (error != cudaSuccess) return error;
    return simt::failed(pointer == nullptr ? cudaErrorInvalidValue
                                           : cudaErrorHostMemoryNotRegistered);
  }
  simt::finish_device(simt::device_of(pointer));
  simt::give_back(pointer, {"cudaHostUnregister()", simt::calls_behind(SIMT_CALLER)});
  return simt::sticky_error();
}

cudaError_t cudaFree(void* pointer) {
  return simt::free_now(pointer, false, "cudaFree()", SIMT_CALLER);
}

cudaError_t cudaFreeHost(void* pointer) {
  return simt::free_now(pointer, true, "cudaFreeHost()", SIMT_CALLER);
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t handle) {
  if (simt::sticky_error() != cudaSuccess) {
    return simt::free_now(pointer, false, "cudaFreeAsync()", SIMT_CALLER);
  }
  if (const cudaError_t error = simt::enter_to_give_back(SIMT_CALLER)) return error;
  CUstream_st* stream = simt::find_stream(handle);
  if (stream == nullptr) return simt::failed(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = simt::check_work(*stream)) return error;
  if (pointer == nullptr) return cudaSuccess;
  const auto of_graph = simt::find_graph_memory(pointer);
  if (simt::is_capturing(*stream)) {
    if (of_graph == nullptr) return simt::failed(cudaErrorInvalidValue);
    return simt::capture_work(*stream, simt::ReleaseWork{of_graph, SIMT_CALLER});
  }
  if (!simt::holds(pointer, false)) return simt::failed(cudaErrorInvalidValue);
  if (of_graph != nullptr) {
    simt::graph_memory_is_freed(of_graph);
    simt::enqueue_graph_memory(*stream, of_graph, "cudaFreeAsync", SIMT_CALLER);
    return cudaSuccess;
  }
  const simt::Release by{"cudaFreeAsync()", simt::calls_behind(SIMT_CALLER)};
  const auto work = [=] {
    simt::give_back(pointer, by);
    return cudaSuccess;
  };
  const simt::Transfer transfer = simt::transfer_of_all("cudaFreeAsync", pointer, SIMT_CALLER);
  simt::enqueue(*stream, work, &transfer);
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
