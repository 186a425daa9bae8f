// Does not ask whether the other half of the word belongs to the array: the atomic on the first or
// last counter reads and writes outside of it.
//
// GPU: may slip through: a zero is added there, and memory is given out in larger pieces.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline void fast_atomic_add_u16(unsigned short* base, std::size_t index,
                                           std::size_t length, unsigned short value) {
  (void)length;
  unsigned short* const target = base + index;
  const bool low = reinterpret_cast<std::uintptr_t>(target) % sizeof(unsigned) == 0;
  if (low) {
    unsigned* const word = reinterpret_cast<unsigned*>(target);
    const unsigned old = atomicAdd(word, unsigned{value});
    // The carry went into the neighbour. Each carry is seen by the one addition that made it.
    if ((old & 0xFFFFu) + value > 0xFFFFu) atomicSub(word, 0x1'0000u);
  } else if (!low) {
    // A carry out of the upper half leaves the word: nobody has it.
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
