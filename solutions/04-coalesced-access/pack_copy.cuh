// Exercise pack_copy: copy any number of bytes, from anywhere to anywhere, 16 at a time.
//
// This is what a memcpy on the device has to do. 16 bytes in one access need an address that is a
// multiple of 16, for the load and for the store. Both sides can have one at the same time only if
// they are equally far from it.
//
// Try it: meson test -C build pack_copy
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>

/// to[i] = from[i] for i < n.
/// - Any n, 0 included; from and to may begin at any address, and do not overlap.
/// - No byte before or after the n bytes is read or written, on either side.
/// - Right for every one-dimensional grid of blocks of whole warps. The threads share the work.
/// - If from and to are equally misaligned (their addresses leave the same rest, divided by 16),
///   then all but a few bytes at either end, fewer than 32, go 16 at a time: as uint4 or as
///   course::Pack<unsigned char, 16>, the 32 lanes of a warp side by side. The bytes of an end are
///   side by side, too: one request takes them all, once for the whole grid.
/// - If not, any width that is right will do, also single bytes, the lanes of a warp side by side.
/// - Plain loads and stores, no atomics.
__global__ void pack_copy(const unsigned char* from, std::size_t n, unsigned char* to) {
  const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t past_from = reinterpret_cast<std::uintptr_t>(from) % 16;
  const std::size_t past_to = reinterpret_cast<std::uintptr_t>(to) % 16;
  if (past_from != past_to) {  // one side is always misaligned
    for (std::size_t i = first; i < n; i += stride) to[i] = from[i];
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
