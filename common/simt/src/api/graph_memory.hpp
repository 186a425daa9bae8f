// Memory that belongs to a graph: a launch allocates it, and a launch or the program frees it.
#pragma once

#include <cstddef>
#include <memory>

#include "checker/overlap.hpp"
#include "simt/api.hpp"

namespace simt {

/// It has its address as long as a node, an executable graph or the program knows it. What is in it
/// is undefined from its release on, and from each allocation.
struct GraphMemory {
  GraphMemory(void* p, std::size_t bytes, int of_device)
      : pointer(p), size(bytes), device(of_device) {}
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;

  void* pointer;
  std::size_t size;
  int device;
  bool allocated = false;  // by a launch, and not freed, as the host's calls go
};

/// Nodes that allocate and free it; `caller` made the node.
struct AllocationWork {
  std::shared_ptr<GraphMemory> memory;
  const void* caller;
};
struct ReleaseWork {
  std::shared_ptr<GraphMemory> memory;
  const void* caller;
};

/// Null if the device is full.
std::shared_ptr<GraphMemory> make_graph_memory(std::size_t size, int device, const void* caller);
/// Null if no graph's memory begins there.
std::shared_ptr<GraphMemory> find_graph_memory(const void* pointer);

/// The host's call that allocates or frees it: counted, and kept for the program.
void graph_memory_is_allocated(const std::shared_ptr<GraphMemory>& memory);
void graph_memory_is_freed(const std::shared_ptr<GraphMemory>& memory);
/// What the stream then does. For the checker both write all of it.
void enqueue_graph_memory(CUstream_st& stream, const std::shared_ptr<GraphMemory>& memory,
                          const char* function, const void* caller);

}  // namespace simt
