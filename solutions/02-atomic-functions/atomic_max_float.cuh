// Exercise atomic_max_float: the atomic function that CUDA does not have.
//
// CUDA has atomicMax for integers only. Build it for float, with an answer for every pair of
// floats: negative ones, the two zeros, infinities and NaN.
//
// Try it: ./course check atomic_max_float
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

/// The one NaN that a cell may hold.
constexpr unsigned kNanBits = 0x7FFF'FFFF;

/// Sets the cell *address to the maximum of what it holds and `value`, in one atomic step. Returns
/// what the cell held before, bit for bit.
/// - -0.0f is smaller than 0.0f. Infinities and subnormals are numbers like all others.
/// - NaN wins: a `value` that is NaN, whatever its sign and bits, makes the cell the NaN of
///   kNanBits, which stays. (This is the function `maximum` of IEEE 754-2019.)
/// - Before the first call the cell holds a number or the NaN of kNanBits.
/// - The cell is in global or in shared memory. Many threads may call this at the same time.
/// An ordinary read of the cell counts only if atomicCAS confirms its value. A volatile read counts
/// as it is.
__device__ inline float atomic_max_float(float* address, float value) {
  // Not negative: bits are ordered like floats, and as signed integers they are above the bits of
  // all negative ones. kNanBits is the largest of all.
  const int bits = value != value ? static_cast<int>(kNanBits) : __float_as_int(value);
  if (bits >= 0) return __int_as_float(atomicMax(reinterpret_cast<int*>(address), bits));
  // Negative: the larger float has the smaller bits, and as unsigned integers the bits of all that
  // is not negative are smaller still.
  return __uint_as_float(
      atomicMin(reinterpret_cast<unsigned*>(address), static_cast<unsigned>(bits)));
}
