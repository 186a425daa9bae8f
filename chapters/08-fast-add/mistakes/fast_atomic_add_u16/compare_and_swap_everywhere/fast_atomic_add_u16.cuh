// Adds with atomicCAS everywhere. Right, and slow: lanes at one counter need as many rounds as
// there are lanes.
//
// GPU: may slip through: the counters are right; only the number of atomics is not.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline void fast_atomic_add_u16(unsigned short* base, std::size_t index,
                                           std::size_t length, unsigned short value) {
  unsigned short* const target = base + index;
  (void)length;
  unsigned short old = *static_cast<volatile unsigned short*>(target);
  unsigned short assumed;
  do {
    assumed = old;
    old = atomicCAS(target, assumed, static_cast<unsigned short>(assumed + value));
  } while (old != assumed);
}
