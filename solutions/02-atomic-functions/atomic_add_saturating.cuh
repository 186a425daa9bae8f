// Exercise atomic_add_saturating: add, but never beyond a limit.
//
// Many threads fill one tank. It must not overflow, not even for a moment: another thread could
// read the level just then, or add to it.
//
// Try it: ./course check atomic_add_saturating
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

/// Adds `value` to the cell *address, but not beyond `limit`, in one atomic step. Returns what the
/// cell held before.
/// - If old + value is above the limit, also beyond 32 bits, the cell becomes `limit`.
/// - A cell that holds more than the limit stays as it is.
/// - Threads may call this at the same time, with different values and limits. The cell never holds
///   anything but what these calls, made one after another in some order, would leave in it.
/// - The cell is in global or in shared memory.
/// An ordinary read of the cell counts only if atomicCAS confirms its value. A volatile read counts
/// as it is.
__device__ inline unsigned atomic_add_saturating(unsigned* address, unsigned value,
                                                 unsigned limit) {
  unsigned old = *static_cast<volatile unsigned*>(address);  // a guess, which atomicCAS confirms
  unsigned assumed;
  do {
    assumed = old;
    const unsigned room = assumed < limit ? limit - assumed : 0;  // cannot wrap, a sum could
    old = atomicCAS(address, assumed, assumed + (value < room ? value : room));
  } while (old != assumed);
  return old;
}
