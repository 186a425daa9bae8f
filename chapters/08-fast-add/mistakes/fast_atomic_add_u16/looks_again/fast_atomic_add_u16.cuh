// Looks at the word again to see whether there was a carry. Others have added meanwhile: carries
// are missed, or taken back twice.
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
    atomicAdd(word, unsigned{value});
    if ((atomicAdd(word, 0u) & 0xFFFFu) < value) atomicSub(word, 0x1'0000u);
  } else if (!low && index > 0) {
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
