// Which memory a generic address means: __isShared() and __cvta_generic_to_shared() and similar functions.
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

// Each variable of a block has a window of its own: its number in the high bits, and the dynamic array's is 0.
namespace {
constexpr unsigned kWindowBits = 18;  // more than the shared memory of any block
constexpr std::size_t kWindow = std::size_t{1} << kWindowBits;

const Allocation* in_window(const Block& block, std::size_t number) {
  if (number == 0) return block.dynamic;
  return number <= block.shared.size() ? block.shared[number - 1].memory : nullptr;
}
}  // namespace

std::size_t shared_offset(const void* p) {
  if (!in_kernel()) return 0;
  const Block& block = *engine.current->block;
  const Allocation* const owner = owner_of(reinterpret_cast<std::uintptr_t>(p));
  for (std::size_t i = 0; owner != nullptr && i <= block.shared.size(); ++i) {
    if (in_window(block, i) == owner) {
      return i * kWindow + (reinterpret_cast<std::uintptr_t>(p) - owner->begin);
    }
  }
  return 0;
}

void* shared_address(std::size_t offset) {
  if (!in_kernel()) return nullptr;
  const Allocation* const owner = in_window(*engine.current->block, offset >> kWindowBits);
  return owner == nullptr ? nullptr : reinterpret_cast<void*>(owner->begin + offset % kWindow);
}

}  // namespace simt
