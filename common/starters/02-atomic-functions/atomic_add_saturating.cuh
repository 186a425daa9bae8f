// Exercise atomic_add_saturating: add, but never more than there is room for.
//
// Many threads fill one vessel. It must not overflow, not for a moment: another thread could look
// at it just then, or add to it.
//
// Try it: meson test -C build atomic_add_saturating
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// Adds `value` to *address, but no more than up to `limit`, in one atomic step. Returns what was
/// there before.
/// - Where old + value is above the limit, also beyond 32 bits, the cell becomes `limit`.
/// - A cell that holds more than the limit stays as it is.
/// - Threads may call this at once with different values and different limits. Nobody ever finds
///   anything in the cell but what the calls, one after another, leave there.
/// - The cell is in global or in shared memory.
/// Whoever reads the cell without an atomic function must confirm what was read by atomicCAS.
__device__ inline unsigned atomic_add_saturating(unsigned* address, unsigned value,
                                                 unsigned limit) {
  // TODO(you): no other thread may come in between the test and the addition.
  (void)address, (void)value;  // delete this
  return limit;
}
