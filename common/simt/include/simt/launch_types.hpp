// A kernel launch as data: what launch.hpp makes of `kernel<<<...>>>(...)`, what streams queue and
// what the scheduler runs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "simt/element_type.hpp"
#include "simt/vector_types.hpp"

namespace simt {

/// A pointer argument of a launch: `text` names its allocation in messages.
struct PointerArgument {
  const void* pointer;
  std::string text;
  ElementType element;
};

struct Launch {
  const char* kernel = "";  // as written before <<<
  dim3 grid, block;
  dim3 cluster{1, 1, 1};  // blocks
  std::size_t shared_bytes = 0;
  std::size_t most_shared = 0;  // bytes that a block may have: __shared__ variables, and dynamic
  bool cooperative = false;     // all its blocks are resident
  bool of_library = false;      // of a function of a library, which has the kernel's name
  unsigned most_resident = 0;   // blocks that the device has room for at the same time
  void (*body)(const void* closure) = nullptr;  // calls the kernel, in one thread
  std::shared_ptr<const void> closure;          // the kernel's arguments
  std::vector<PointerArgument> pointers;
  std::vector<const void*> calls;  // return addresses of the host, the launch first
};

}  // namespace simt
