// What the parts of the memory layer share: reserved address space, allocations by address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "memory/allocations.hpp"

namespace simt {

constexpr std::size_t kPage = std::size_t(1) << kPageBits;

/// Zeroed address space that costs memory only where it is touched; null if there is none.
void* reserve(std::size_t size);
/// The same; ends the program if there is none.
void* reserve_or_die(std::size_t size);

using AllocationMap = std::map<std::uintptr_t, std::unique_ptr<Allocation>>;  // by first address

/// The last one that begins at the address or before it, or null.
inline Allocation* last_at_or_before(const AllocationMap& map, std::uintptr_t address) {
  auto it = map.upper_bound(address);
  return it == map.begin() ? nullptr : std::prev(it)->second.get();
}

/// The registered variable that begins at the address or before it, or null.
Allocation* variable_at_or_before(std::uintptr_t address);

}  // namespace simt
