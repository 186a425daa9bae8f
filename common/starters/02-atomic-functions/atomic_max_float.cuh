// Exercise atomic_max_float: the atomic function that everybody misses.
//
// CUDA has atomicMax for integers only. Build it for float, with an answer for every pair of
// floats: negative ones, the two zeros, infinities and NaN.
//
// Try it: meson test -C build atomic_max_float
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// The one NaN that a cell may hold.
constexpr unsigned kNanBits = 0x7FFF'FFFF;

/// *address = maximum(*address, value), in one atomic step. Returns what was there, bit for bit.
/// - -0.0f is smaller than 0.0f. Infinities and subnormals are numbers like all others.
/// - NaN wins, whatever its sign and bits are: as a value it makes the cell the NaN of kNanBits.
///   That one stays, whatever comes later. (It is the maximum of IEEE 754-2019.)
/// - The cell holds a number or the NaN of kNanBits before.
/// - The cell is in global or in shared memory, and any number of threads may call this at once.
/// Whoever reads the cell without an atomic function must confirm what was read by atomicCAS.
__device__ inline float atomic_max_float(float* address, float value) {
  // TODO(you): a loop around atomicCAS, or the hardware's atomics for integers.
  (void)address;  // delete this
  return value;
}
