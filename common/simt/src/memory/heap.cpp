// Takes and gives back the memory of kernels' malloc() and new.
#include "memory/heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "base/early.hpp"
#include "memory/allocations.hpp"
#include "report/reports.hpp"

namespace simt {
namespace {

struct Heap {
  std::size_t limit = kHeapSize, used = 0;
};
std::array<Heap, kMostDevices> heaps;
/// What kernels hold.
SIMT_EARLY std::map<void*, Allocation*> heap_blocks;

Heap& heap_of(int device) { return heaps[static_cast<unsigned>(device)]; }

}  // namespace

void set_heap_size(int device, std::size_t bytes) { heap_of(device).limit = bytes; }

void* heap_take(std::size_t size, int device, const void* caller) {
  Heap& heap = heap_of(device);
  if (size > heap.limit - std::min(heap.used, heap.limit)) return nullptr;
  void* const p = allocate(size, Space::device, {}, device, caller);
  if (p == nullptr) return nullptr;
  Allocation* const a = owner_of(reinterpret_cast<std::uintptr_t>(p));
  a->in_heap = true;
  heap.used += size;
  heap_blocks[p] = a;
  return p;
}

bool heap_give_back(void* p, const Release& by) {
  const auto it = heap_blocks.find(p);
  if (it == heap_blocks.end()) return false;
  heap_of(it->second->device).used -= it->second->size;
  heap_blocks.erase(it);
  return release(p, false, by);
}

void note_heap_leaks(int device) {
  struct Leak {
    std::size_t count = 0, bytes = 0;
  };
  std::map<const void*, Leak> leaks;
  for (const auto& [p, a] : heap_blocks) {
    if (a->device != device) continue;
    Leak& leak = leaks[a->allocated_by.front()];
    ++leak.count;
    leak.bytes += a->size;
  }
  for (const auto& [line, leak] : leaks) {
    note_text(fmt::format("memory of the device's heap that no kernel has freed: {} bytes in {} {}",
                          leak.bytes, leak.count, leak.count == 1 ? "piece" : "pieces"),
              line);
  }
}

void reset_heap(int device) {
  note_heap_leaks(device);
  std::vector<void*> all;
  for (const auto& [p, a] : heap_blocks) {
    if (a->device == device) all.push_back(p);
  }
  for (void* const p : all) heap_give_back(p, {"cudaDeviceReset()", {}});
  heap_of(device) = {};
}

}  // namespace simt
