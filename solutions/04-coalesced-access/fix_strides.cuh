// Exercise fix_strides: a kernel that is right, and slow. Make it coalesced.
//
// A recording has n frames, and a frame has two samples: left, right, left, right, and so on. This
// kernel mixes the two down to one. Every number that it writes is right. But its warps request far
// more sectors than hold the recording.
//
// Try it: ./course check fix_strides
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

/// mono[i] = (frames[2 * i] + frames[2 * i + 1]) / 2 for every frame i < n.
/// - frames has 2 * n floats and begins at a multiple of 8 bytes, not always at one of 16.
///   mono begins at a multiple of 4. Nothing outside of the two arrays is read or written.
/// - Right for every n, 0 included, and for every one-dimensional grid of blocks of whole warps.
/// - The threads of the grid share the work: a store of a warp writes 32 numbers or more, and fewer
///   only at the end of mono.
/// - No sector is requested twice: if both arrays begin with a sector, the whole grid's loads touch
///   8 n / 32 sectors, rounded up, and its stores 4 n / 32. Where an array begins within a sector,
///   each request touches one more. A frame that is left at the end may touch its sectors once more.
///   Plain loads and stores, no atomics. The CPU device counts the accesses that the source has.
__global__ void mix_down(const float* frames, std::size_t n, float* mono) {
  const float2* const pairs = reinterpret_cast<const float2*>(frames);
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const float2 pair = pairs[i];  // both samples in one access: no gaps between the lanes
    mono[i] = 0.5f * (pair.x + pair.y);
  }
}
