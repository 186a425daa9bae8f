// Exercise atomic_max_half: the larger half stays.
//
// CUDA C++ has no atomic maximum of halves. PTX has one since sm_90, but not for this contract: it
// takes two or more neighbours, in global memory only, and of two NaN it makes a third. The trick
// with integers (chapter 02) needs a 16-bit atomicMax, which does not exist. atomicCAS exists.
//
// Try it: ./course check atomic_max_half
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

/// Raises *address to `value` if that is larger, in one atomic step. Returns what was there, bit
/// for bit.
/// - 0.0 is larger than -0.0. Infinities and subnormals are numbers like all others.
/// - A NaN, of any sign and any bits, means "no measurement": as `value` it changes nothing, and in
///   *address it is replaced by every number, -infinity included.
/// - If `value` is not larger, *address keeps its bits; if it is, *address gets the bits of
///   `value`.
/// - `address` is any element of an array in global or shared memory, even or odd. The 32-bit word
///   that it is part of is there and initialised: you may read and swap it.
/// - The other half of the word keeps its bits, whatever they are, and others may raise it or add
///   to it by atomic functions at the same time. No update gets lost.
/// - Where nothing has to change, nothing has to be stored. What a plain or volatile load has read
///   must be confirmed by atomicCAS.
__device__ inline __half atomic_max_half(__half* address, __half value) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto* const word = reinterpret_cast<unsigned*>(at & ~std::uintptr_t{3});
  const unsigned shift = (at & 2) != 0 ? 16 : 0;
  const unsigned bits = __half_as_ushort(value);

  unsigned old = *static_cast<volatile unsigned*>(word);  // a guess, which atomicCAS confirms
  unsigned assumed;
  __half found;
  do {
    assumed = old;
    found = __ushort_as_half(static_cast<unsigned short>(assumed >> shift));
    bool raise = __hgt(value, found) || (__hisnan(found) && !__hisnan(value));
    if (__heq(value, found)) raise = bits == 0 && __half_as_ushort(found) != 0;  // 0.0 after -0.0
    const unsigned next = (assumed & ~(0xFFFFu << shift)) | (bits << shift);
    old = atomicCAS(word, assumed, raise ? next : assumed);  // stores what is there: no harm
  } while (old != assumed);  // words, not halves: see atomic_sub_half
  return found;
}
