// For the checks: which lanes of a warp are there at all.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

/// The lanes of thread t's warp that have a number. Those that do not call wait for the others with
/// it: an answer that needs them does not come to an end.
__device__ inline unsigned lanes_with_a_number(unsigned block, unsigned rank, std::size_t t,
                                               std::size_t n) {
  const std::size_t in_block = block - rank / 32 * 32, in_array = n - (t - rank % 32);
  const std::size_t lanes = in_block < in_array ? in_block : in_array;
  return lanes < 32 ? (1u << lanes) - 1 : 0xffff'ffffu;
}
