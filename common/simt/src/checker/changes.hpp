// The last changes of global memory by atomics: what explains a wrong number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/thread.hpp"

namespace simt {

/// The running thread's atomic has changed an object of global memory, of 8 bytes at most, which held `before`.
void record_change(const Thread& t, const char* name, const void* caller, std::uintptr_t address,
                   std::size_t size, const void* before);

}  // namespace simt
