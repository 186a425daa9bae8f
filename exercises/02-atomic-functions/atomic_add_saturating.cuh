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

NOT_STARTED  // delete this line when you begin

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
  // TODO(you): add to the cell, but not beyond the limit.
  (void)address, (void)value;  // delete this
  return limit;
}
