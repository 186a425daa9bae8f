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

NOT_STARTED  // delete this line when you begin

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
  // TODO(you): make its accesses coalesced.
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t share = (n + threads - 1) / threads;
  for (std::size_t i = thread * share; i < n && i < (thread + 1) * share; ++i) {
    const float left = frames[2 * i];
    const float right = frames[2 * i + 1];
    mono[i] = 0.5f * (left + right);
  }
}
