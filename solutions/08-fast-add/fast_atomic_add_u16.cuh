// Exercise fast_atomic_add_u16: counters of 16 bits, two per word.
//
// A table of small counters takes half the memory if a counter has 16 bits. CUDA adds atomically to
// 32 bits, but not to 16. So add to the word that a counter shares with its neighbour, and make
// sure that the neighbour keeps its value.
//
// Try it: ./course check fast_atomic_add_u16
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

/// Adds `value` to base[index], atomically, modulo 65536: after 65535 a counter goes on at 0.
/// - `base` is an array of `length` counters in global memory, and index < length. Its address is a
///   multiple of 2, and perhaps not of 4: then base[1] and base[2] share a word, and base[0] and
///   base[1] do not.
/// - When the kernel has ended, every counter holds its first value plus all that was added to it,
///   modulo 65536, whatever was added to its neighbour. No thread reads the counters before that.
/// - Memory outside of base[0..length-1] is neither read nor written.
/// - If both halves of the counter's word (4 bytes at a multiple of 4) are in the array, a call
///   makes one atomic, on the word. If it takes the counter past 65535 it may make a second one. It
///   does not loop.
/// - If not, which happens at the first or the last counter only, use
///   atomicCAS(unsigned short*, unsigned short, unsigned short). What a plain or volatile load has
///   read must be confirmed by it.
__device__ inline void fast_atomic_add_u16(unsigned short* base, std::size_t index,
                                           std::size_t length, unsigned short value) {
  unsigned short* const target = base + index;
  const bool low = reinterpret_cast<std::uintptr_t>(target) % sizeof(unsigned) == 0;
  if (low && index + 1 < length) {
    unsigned* const word = reinterpret_cast<unsigned*>(target);
    const unsigned old = atomicAdd(word, unsigned{value});
    // The carry went into the neighbour. Each carry is seen by the one addition that made it.
    if ((old & 0xFFFFu) + value > 0xFFFFu) atomicSub(word, 0x1'0000u);
  } else if (!low && index > 0) {
    // A carry out of the upper half leaves the word, and is gone.
    atomicAdd(reinterpret_cast<unsigned*>(target - 1), unsigned{value} << 16);
  } else {
    unsigned short old = *static_cast<volatile unsigned short*>(target);  // a guess
    unsigned short assumed;
    do {
      assumed = old;
      old = atomicCAS(target, assumed, static_cast<unsigned short>(assumed + value));
    } while (old != assumed);
  }
}
