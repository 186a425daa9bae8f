// How messages name addresses.
#pragma once

#include <cstdint>
#include <string>

#include "memory/allocations.hpp"
#include "simt/launch_types.hpp"

namespace simt {

/// What an address is in, or next to; null for memory of the host.
Allocation* named_by(std::uintptr_t address);
/// "s", "d_x", "dynamic shared memory". On the host's stack only, if the allocation has no name.
std::string name_of(const Allocation& a);
/// "s[37]", "4 bytes before d_x", "float 1000 past the end of d_x (1000 elements)".
std::string describe_address(std::uintptr_t address);
/// The same, but "s[37]" of any byte of that element.
std::string describe_element(std::uintptr_t address);
/// ": its last 12 bytes lie past the end of d_x (33 elements)" of an access that begins in an array and
/// ends after it; empty for any other.
std::string describe_overhang(std::uintptr_t address, std::size_t size);
/// The name of what the address is in or next to; empty if it has none.
std::string object_at(std::uintptr_t address);

/// Names allocations after the arguments of the launch that starts, and remembers these until
/// forget_arguments().
void name_allocations(const Launch& launch);
void forget_arguments();

/// Whether the host has memory at an address that is not the device's.
bool is_host_memory(std::uintptr_t address);
/// The registered variable at the address, or the one that ends less than a page before it; null if
/// there is none.
Allocation* variable_near(std::uintptr_t address);

}  // namespace simt
