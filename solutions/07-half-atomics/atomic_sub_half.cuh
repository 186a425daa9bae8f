// Exercise atomic_sub_half: subtract from one half, and leave its neighbour alone.
//
// CUDA has atomicAdd for __half, but no atomicSub. The hardware compares and swaps 32 bits, and a
// half has 16: its neighbour is swapped with it, while other threads change that neighbour.
//
// Try it: ./course check atomic_sub_half
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

/// *address = *address - value, rounded to half, in one atomic step. Returns what was there, bit
/// for bit.
/// - `address` is any element of an array in global or shared memory: an even or an odd one, the
///   first or the last. The 32-bit word that it is part of, a multiple of 4 bytes, is there and
///   initialised, even if the other half of it is outside the array: you may read and swap it.
/// - The other half of the word keeps its bits, whatever they are: -0.0, a NaN of any kind.
/// - Any number of threads may call this at once, for both halves of the word, and others may
///   change the other half by atomicAdd. No update gets lost.
/// - Infinities and NaN are values like all others: the call returns for them, too.
/// - Build it from atomicCAS, of 32 bits or of 16. (atomicAdd(address, -value) gives the same
///   numbers, but no such shortcut leads to a minimum, or to anything else that CUDA lacks.)
/// - What a plain or volatile load has read must be confirmed by atomicCAS.
__device__ inline __half atomic_sub_half(__half* address, __half value) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto* const word = reinterpret_cast<unsigned*>(at & ~std::uintptr_t{3});
  const unsigned shift = (at & 2) != 0 ? 16 : 0;  // the half with the higher address is on top
  unsigned old = *static_cast<volatile unsigned*>(word);  // a guess, which atomicCAS confirms
  unsigned assumed;
  __half found;
  do {
    assumed = old;
    found = __ushort_as_half(static_cast<unsigned short>(assumed >> shift));
    const unsigned bits = __half_as_ushort(__hsub(found, value));
    old = atomicCAS(word, assumed, (assumed & ~(0xFFFFu << shift)) | (bits << shift));
  } while (old != assumed);  // all 32 bits: if only the neighbour has changed, nothing was stored
  return found;
}
