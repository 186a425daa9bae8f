// __shared__ variables of the running block.
#include <fmt/format.h>

#include <string>

#include "base/limits.hpp"
#include "base/scoped_ignore.hpp"
#include "kernel/engine.hpp"
#include "simt/api.hpp"
#include "simt/runtime.hpp"

namespace simt {

void* block_shared(const void* key, const SharedVariable& variable, const void* caller) {
  const ScopedIgnore guard;
  Block& block = *engine.current->block;
  for (const SharedInstance& s : block.shared) {
    if (s.key == key) return reinterpret_cast<void*>(s.memory->begin);
  }
  std::size_t in_use = variable.size;
  for (const SharedInstance& s : block.shared) in_use += s.memory->size;
  if (in_use > kSharedPerBlock) {
    trap(
        "the __shared__ variables take more than 48 KiB, which nvcc refuses: use extern __shared__ "
        "memory, and cudaFuncSetAttribute",
        cudaErrorLaunchFailure, caller);
  }
  const Launch& launch = *engine.launch;
  if (in_use + launch.shared_bytes > launch.most_shared) {
    static std::string& message = *new std::string;  // the trap unwinds no stack
    message = fmt::format(
        "a block has {} bytes of dynamic shared memory and at least {} of __shared__ variables, and "
        "a GPU refuses a launch with more than {} of both{}",
        launch.shared_bytes, in_use, launch.most_shared,
        launch.most_shared == kSharedPerBlock ? " without cudaFuncSetAttribute" : "");
    trap(message.c_str(), cudaErrorInvalidValue, caller);
  }
  Allocation* a = acquire_shared(variable.size, variable.element, variable.name);
  a->extents.clear();
  for (std::size_t extent : variable.extents) {
    if (extent > 0) a->extents.push_back(extent);
  }
  a->holder = block.linear;
  block.shared.push_back({key, a});
  return reinterpret_cast<void*>(a->begin);
}

void* dynamic_shared(const char* name, ElementType element) {
  const ScopedIgnore guard;
  Block& block = *engine.current->block;
  Allocation* a = block.dynamic;
  if (a == nullptr) {
    block.without_memory = name;
    return nullptr;
  }
  const bool is_declared = block.dynamic_name == name && a->element.function == element.function;
  if (!is_declared) {  // not again by every thread
    block.dynamic_name = name;
    a->name = name;
    a->element = element;
    a->extents.clear();
  }
  return reinterpret_cast<void*>(a->begin);
}

}  // namespace simt
