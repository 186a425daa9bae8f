// Memory that the program has allocated, pinned or registered.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "simt/api.hpp"
#include "simt/testing.hpp"

namespace simt {

struct GraphMemory;

/// Memory that the program holds.
struct Held {
  bool pinned = false;
  unsigned flags = 0;                               // of cudaHostAlloc or cudaHostRegister
  cudaMemPool_t pool = nullptr;                     // what it came from; null for none
  bool registered = false;                          // the host's own
  std::shared_ptr<GraphMemory> of_graph = nullptr;  // what a launch of a graph has allocated
};
void hold_graph_memory(const std::shared_ptr<GraphMemory>& memory);
void drop_graph_memory(const GraphMemory& memory);

/// What pools.cpp counts.
void pool_gave(cudaMemPool_t pool, std::size_t size);
void pool_got_back(cudaMemPool_t pool, std::size_t size);
/// The pool to allocate from if the program names none.
cudaMemPool_t pool_of_device(int device);
bool is_pool(cudaMemPool_t pool);
int device_of_pool(cudaMemPool_t pool);
/// May another device access its memory? Then here all may.
bool is_open(cudaMemPool_t pool);
void open_memory_of(cudaMemPool_t pool);

/// cudaFree() and its like: waits for the device that the memory was made on.
cudaError_t free_now(void* pointer, bool pinned, const char* function, const void* caller);
/// Gives back all memory that was allocated while this device was current, as cudaDeviceReset() does.
void free_everything(int device);
/// Adds what is allocated to an empty list, the oldest first.
void list_memory(std::vector<Holding>& list);

}  // namespace simt
