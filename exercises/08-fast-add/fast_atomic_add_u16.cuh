// Exercise fast_atomic_add_u16: counters of 16 bits, two to a word.
//
// A table of small counters takes half the memory if a counter has 16 bits. CUDA adds atomically to
// 32 bits, and not to 16. So add to the word that a counter shares with its neighbour, and make
// sure that the neighbour keeps its value.
//
// Try it: meson test -C build fast_atomic_add_u16
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

NOT_STARTED  // delete this line when you begin

/// Adds `value` to base[index], atomically, modulo 65536: a counter that passes 65535 goes on at 0.
/// - `base` is an array of `length` counters in global memory, and index < length. It is a multiple
///   of 2, and perhaps none of 4: then base[1] and base[2] share a word, and not base[0] and
///   base[1].
/// - When the kernel is over, every counter holds its first value and all that was added to it,
///   modulo 65536, whatever was added to its neighbour. No thread reads the counters before that.
/// - Memory outside of base[0..length-1] is neither read nor written.
/// - If both halves of the counter's word (the 4 bytes at the multiple of 4) are in the array, a
///   call makes one atomic, on the word. If it takes the counter past 65535 it may make a second
///   one. It makes no loop.
/// - If not, which happens at the first or the last counter only, there is
///   atomicCAS(unsigned short*, unsigned short, unsigned short). A look by a plain or volatile load
///   must be confirmed by it.
__device__ inline void fast_atomic_add_u16(unsigned short* base, std::size_t index,
                                           std::size_t length, unsigned short value) {
  // TODO(you): which half of its word is the counter? Is the other half in the array?
  (void)base, (void)index, (void)length, (void)value;  // delete this
}
