// Begins at the multiple of 16 before the arrays, so that no head is needed: up to 15 bytes before
// them are read and written.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>

__global__ void pack_copy(const unsigned char* from, std::size_t n, unsigned char* to) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(from) % 16;
  if (past != reinterpret_cast<std::uintptr_t>(to) % 16) {
    for (std::size_t i = first; i < n; i += stride) to[i] = from[i];
    return;
  }
  const std::size_t packs = (n + past) / 16;
  for (std::size_t i = first; i < packs; i += stride) {
    course::store_pack(to - past + 16 * i, course::load_pack<16>(from - past + 16 * i));
  }
  for (std::size_t i = 16 * packs + first; i < n + past; i += stride) {
    (to - past)[i] = (from - past)[i];
  }
}
