// Takes the carry back with atomicAnd(word, 0xffff), which takes all of the neighbour with it.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline void fast_atomic_add_u16(unsigned short* base, std::size_t index,
                                           std::size_t length, unsigned short value) {
  unsigned short* counter = base + index;
  const auto address = reinterpret_cast<std::uintptr_t>(counter);
  const bool high = address % 4 != 0;
  if (high ? index > 0 : index + 1 < length) {
    auto* word = reinterpret_cast<unsigned*>(high ? counter - 1 : counter);
    const unsigned old = atomicAdd(word, static_cast<unsigned>(value) << (high ? 16 : 0));
    if (!high && (old & 0xffff) + value > 0xffff) atomicAnd(word, 0xffff);
  } else {
    unsigned short old = *counter, assumed;
    do {
      assumed = old;
      old = atomicCAS(counter, assumed, static_cast<unsigned short>(assumed + value));
    } while (old != assumed);
  }
}
