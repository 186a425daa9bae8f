// Takes one pack more instead of the tail: up to 15 bytes behind the arrays are read and written.
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
    for (std::size_t i = first; i < n; i += stride) to[i] = from[i];
    return;
  }
  const std::size_t head = course::head_before_packs(from, n, 16);
  for (std::size_t i = first; i < head; i += stride) to[i] = from[i];
  for (std::size_t i = first; i < (n - head + 15) / 16; i += stride) {
    const std::size_t at = head + 16 * i;
    course::store_pack(to + at, course::load_pack<16>(from + at));
  }
}
