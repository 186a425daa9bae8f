// Uses packs only if both arrays begin at a multiple of 16; equally misaligned ones go byte by
// byte.
//
// GPU: may slip through: the values are right, and nothing counts requests there.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>

__global__ void pack_copy(const unsigned char* from, std::size_t n, unsigned char* to) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const auto both = reinterpret_cast<std::uintptr_t>(from) | reinterpret_cast<std::uintptr_t>(to);
  const std::size_t packs = both % 16 == 0 ? n / 16 : 0;
  for (std::size_t i = first; i < packs; i += stride) {
    course::store_pack(to + 16 * i, course::load_pack<16>(from + 16 * i));
  }
  for (std::size_t i = 16 * packs + first; i < n; i += stride) to[i] = from[i];
}
