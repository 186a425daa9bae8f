// Adds to a first or last counter that is alone in its word with a plain +=: updates are lost.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

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
    // A carry out of the upper half leaves the word: nobody has it.
    atomicAdd(reinterpret_cast<unsigned*>(target - 1), unsigned{value} << 16);
  } else {
    *target = static_cast<unsigned short>(*target + value);
  }
}
