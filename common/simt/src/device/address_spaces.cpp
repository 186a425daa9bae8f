// Which memory a generic address means: __isShared() and similar functions.
#include "kernel/engine.hpp"
#include "memory/allocations.hpp"
#include "simt/runtime.hpp"

namespace simt {

AddressSpace space_of(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if (is_shared(p)) return AddressSpace::shared;
  if (in_kernel() && on_this_stack(address)) return AddressSpace::local;
  const Allocation* variable = global_at(address);
  const bool constant = variable != nullptr && variable->space == Space::constant;
  return constant ? AddressSpace::constant : AddressSpace::global;
}

}  // namespace simt
