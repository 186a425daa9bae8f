// Where the sides are not equally misaligned, each thread copies a stretch of bytes of its own:
// the lanes of a warp are far apart.
//
// GPU: may slip through: the bytes are right, and only the CPU device counts sectors.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>

__global__ void pack_copy(const unsigned char* from, std::size_t n, unsigned char* to) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  if (reinterpret_cast<std::uintptr_t>(from) % 16 != reinterpret_cast<std::uintptr_t>(to) % 16) {
    const std::size_t share = (n + stride - 1) / stride;
    for (std::size_t i = first * share; i < n && i < (first + 1) * share; ++i) to[i] = from[i];
    return;
  }
  const std::size_t head = course::head_before_packs(from, n, 16);
  const std::size_t packs = (n - head) / 16;
  for (std::size_t i = first; i < head; i += stride) to[i] = from[i];
  for (std::size_t i = first; i < packs; i += stride) {
    const std::size_t at = head + 16 * i;
    course::store_pack(to + at, course::load_pack<16>(from + at));
  }
  for (std::size_t i = head + 16 * packs + first; i < n; i += stride) to[i] = from[i];
}
