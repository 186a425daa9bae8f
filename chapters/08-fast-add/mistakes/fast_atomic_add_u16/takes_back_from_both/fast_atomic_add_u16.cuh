// Takes a carry back from the upper counter, too. Its carry has left the word already, so the
// counter is one too small.
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
    unsigned* const word = reinterpret_cast<unsigned*>(target - 1);
    const unsigned old = atomicAdd(word, unsigned{value} << 16);
    if ((old >> 16) + value > 0xFFFFu) atomicSub(word, 0x1'0000u);
  } else {
    unsigned short old = *static_cast<volatile unsigned short*>(target);  // a guess
    unsigned short assumed;
    do {
      assumed = old;
      old = atomicCAS(target, assumed, static_cast<unsigned short>(assumed + value));
    } while (old != assumed);
  }
}
