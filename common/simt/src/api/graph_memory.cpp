// The runtime API: nodes of graphs that allocate and free memory, and what graphs hold of it.
#include "api/graph_memory.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "api/allocations.hpp"
#include "api/errors.hpp"
#include "api/graphs.hpp"
#include "api/queues.hpp"
#include "memory/allocations.hpp"
#include "memory/devices.hpp"

namespace simt {
namespace {

constexpr std::uint64_t kUnit = std::uint64_t(2) << 20;  // what graphs take from the device

/// By address: those that exist.
std::unordered_map<const void*, std::weak_ptr<GraphMemory>>& known() {
  static auto& map = *new std::unordered_map<const void*, std::weak_ptr<GraphMemory>>;
  return map;
}

/// Of a device, in bytes.
struct Amounts {
  std::uint64_t used = 0, most_used = 0, reserved = 0, most_reserved = 0;
};

Amounts& amounts(int device) {
  static auto& all = *new std::array<Amounts, kMostDevices>;
  return all[static_cast<unsigned>(device)];
}

std::uint64_t* amount(int device, cudaGraphMemAttributeType attribute) {
  Amounts& mine = amounts(device);
  switch (attribute) {
    case cudaGraphMemAttrUsedMemCurrent:
      return &mine.used;
    case cudaGraphMemAttrUsedMemHigh:
      return &mine.most_used;
    case cudaGraphMemAttrReservedMemCurrent:
      return &mine.reserved;
    case cudaGraphMemAttrReservedMemHigh:
      return &mine.most_reserved;
  }
  return nullptr;
}

std::uint64_t in_units(std::uint64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

CheckedWork allocation_work(cudaMemAllocNodeParams* parameters, const void* caller) {
  if (parameters == nullptr || parameters->bytesize == 0 ||
      parameters->poolProps.allocType != cudaMemAllocationTypePinned) {
    return failed(cudaErrorInvalidValue);
  }
  const cudaMemLocation& location = parameters->poolProps.location;
  if (location.type != cudaMemLocationTypeDevice) return failed(cudaErrorNotSupported);
  if (!is_device(location.id)) return failed(cudaErrorInvalidDevice);
  auto memory = make_graph_memory(parameters->bytesize, location.id, caller);
  if (memory == nullptr) return failed(cudaErrorMemoryAllocation);
  parameters->dptr = memory->pointer;
  return AllocationWork{std::move(memory), caller};
}

}  // namespace

GraphMemory::~GraphMemory() {
  known().erase(pointer);
  release(pointer, false, {"The end of its graph", {}});
}

std::shared_ptr<GraphMemory> make_graph_memory(std::size_t size, int device, const void* caller) {
  void* const pointer = allocate(size, Space::device, {}, device, caller);
  if (pointer == nullptr) return nullptr;
  auto memory = std::make_shared<GraphMemory>(pointer, size, device);
  known()[pointer] = memory;
  return memory;
}

std::shared_ptr<GraphMemory> find_graph_memory(const void* pointer) {
  const auto it = known().find(pointer);
  return it == known().end() ? nullptr : it->second.lock();
}

void graph_memory_is_allocated(const std::shared_ptr<GraphMemory>& memory) {
  memory->allocated = true;
  hold_graph_memory(memory);
  Amounts& all = amounts(memory->device);
  all.used += memory->size;
  all.most_used = std::max(all.most_used, all.used);
  all.reserved = std::max(all.reserved, in_units(all.used));
  all.most_reserved = std::max(all.most_reserved, all.reserved);
}

void graph_memory_is_freed(const std::shared_ptr<GraphMemory>& memory) {
  memory->allocated = false;
  drop_graph_memory(*memory);
  amounts(memory->device).used -= memory->size;
}

void enqueue_graph_memory(CUstream_st& stream, const std::shared_ptr<GraphMemory>& memory,
                          const char* function, const void* caller) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory->pointer);
  const Transfer transfer{function, caller, {}, {Rows{begin, memory->size, memory->size, 1}}};
  const auto work = [memory] {
    forget_contents(memory->pointer);
    return cudaSuccess;
  };
  enqueue(stream, work, &transfer);
}

}  // namespace simt

// ---- the runtime API ----------------------------------------------------------------------------

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, std::size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  return simt::new_node(node, graph, dependencies, count,
                        simt::allocation_work(parameters, SIMT_CALLER));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, std::size_t count,
                                    void* pointer) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  auto memory = simt::find_graph_memory(pointer);
  if (memory == nullptr) return simt::failed(cudaErrorInvalidValue);
  simt::ReleaseWork work{std::move(memory), SIMT_CALLER};
  return simt::new_node(node, graph, dependencies, count, std::move(work));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t handle, void* pointer) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  const CUgraphNode_st* const node = simt::find_node(handle);
  const auto* work = node == nullptr ? nullptr : std::get_if<simt::ReleaseWork>(&node->work);
  if (work == nullptr || pointer == nullptr) return simt::failed(cudaErrorInvalidValue);
  *static_cast<void**>(pointer) = work->memory->pointer;
  return cudaSuccess;
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  simt::Amounts& all = simt::amounts(device);
  all.reserved = simt::in_units(all.used);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  const std::uint64_t* const place = simt::amount(device, attribute);
  if (place == nullptr || value == nullptr) return simt::failed(cudaErrorInvalidValue);
  *static_cast<std::uint64_t*>(value) = *place;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  if (const cudaError_t error = simt::enter(SIMT_CALLER)) return error;
  if (!simt::is_device(device)) return simt::failed(cudaErrorInvalidDevice);
  std::uint64_t* const place = simt::amount(device, attribute);
  const bool is_high =
      attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
  if (place == nullptr || !is_high || value == nullptr ||
      *static_cast<const std::uint64_t*>(value) != 0) {
    return simt::failed(cudaErrorInvalidValue);
  }
  *place = 0;
  return cudaSuccess;
}
