// What atomics have changed: it explains a wrong number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernel/thread.hpp"
#include "simt/runtime.hpp"

namespace simt {

/// The running thread's atomic has changed an object of 8 bytes at most, which held `before`.
void record_change(const Thread& t, const char* name, const void* caller, std::uintptr_t address,
                   std::size_t size, const void* before);

/// The running thread has done an atomic on an object of 8 bytes at most, which held `found`.
void record_last_atomic(const Thread& t, const char* name, const void* caller, std::size_t size,
                        const void* found, bool has_changed);

/// The running thread's compare-and-swap has done what `values` say: leaves a clue if it has failed just before, with the same
/// value to store, and expects now what it has found then, which is that value. A lock is taken twice in this way.
void note_swap_of_same(const Thread& t, std::uintptr_t address, const AtomicValues& values,
                       const void* caller);

}  // namespace simt
