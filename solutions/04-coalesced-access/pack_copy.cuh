// Exercise pack_copy: copy any number of bytes, from anywhere to anywhere, 16 at a time.
//
// This is what a memcpy on the device has to do. An access of 16 bytes needs an address that is a
// multiple of 16, for the load and for the store. Both can have one at the same time only if both
// arrays begin equally far from one.
//
// Try it: ./course check pack_copy
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
/// - If from and to are equally misaligned (their addresses have the same remainder modulo 16),
///   then all bytes but fewer than 32 at the two ends are copied 16 at a time: as uint4 or as
///   course::Pack<unsigned char, 16>, the 32 lanes of a warp side by side. The bytes of an end are
///   copied side by side, too: one request takes them all, once for the whole grid.
/// - If not, any width that is right will do, single bytes too, the lanes of a warp side by side.
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
