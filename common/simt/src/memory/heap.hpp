// What kernels take by malloc() and new: a part of each device's memory that the host cannot touch.
#pragma once

#include <cstddef>

#include "memory/allocations.hpp"

namespace simt {

/// As cudaLimitMallocHeapSize begins.
constexpr std::size_t kHeapSize = std::size_t(8) << 20;
void set_heap_size(int device, std::size_t bytes);

/// Memory of the device's heap; null if that is full. `caller` is the line in the kernel.
void* heap_take(std::size_t size, int device, const void* caller);
/// False if `p` is not the beginning of what heap_take() gave.
bool heap_give_back(void* p, const Release& by);
/// Leaves a note for each line of a kernel whose memory no kernel has given back.
void note_heap_leaks(int device);
/// The same, and gives it back: the device is as in a new process.
void reset_heap(int device);

}  // namespace simt
