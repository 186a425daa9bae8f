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

NOT_STARTED  // delete this line when you begin

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
  // TODO(you): this is right, and copies one byte with each access. Copy 16 where that is possible.
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    to[i] = from[i];
  }
}
