// Casts between the 16 bits and the half, which converts the number: it subtracts from 0x5640, that
// is 22080, and not from 100.
#pragma once

#include <cuda_fp16.h>

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>
#include <cstdint>

__device__ inline __half atomic_sub_half(__half* address, __half value) {
  auto* word = reinterpret_cast<unsigned short*>(address);
  unsigned short old = *word, assumed;
  do {
    assumed = old;
    old =
        atomicCAS(word, assumed, static_cast<unsigned short>(static_cast<__half>(assumed) - value));
  } while (old != assumed);
  return static_cast<__half>(old);
}
