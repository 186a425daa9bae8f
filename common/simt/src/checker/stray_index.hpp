// The last sentences of a message on an address that no array has, or that is no multiple of the access's size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "kernel/thread.hpp"
#include "memory/shadow.hpp"

namespace simt {

/// Of an access outside of all arrays: which index leads there, and where the index may come from.
std::string bounds_hint(std::uintptr_t address, std::size_t size, bool is_write, const Thread& t);
/// Of an access that begins in an array and ends after it.
std::string overhang_hint(const Allocation& a, std::size_t size);
/// Of an access whose address is no multiple of its size.
std::string alignment_hint(std::uintptr_t address, std::size_t size);

}  // namespace simt
