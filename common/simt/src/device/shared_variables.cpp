// __shared__ variables of the running block.
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
