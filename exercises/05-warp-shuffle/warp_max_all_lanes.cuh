// Exercise warp_max_all_lanes: every lane gets the maximum of its warp.
//
// A sensor sends bursts of 32 readings, and everything that follows is computed relative to the
// highest reading of a reading's own burst. So all 32 lanes of a warp need the maximum, not one of
// them. The last burst may be cut short, and a broken sensor sends NaN.
//
// Try it: meson test -C build warp_max_all_lanes
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// x[0..n-1] is cut into groups of 32: group g is x[32 g] to x[32 g + 31]. The last one may be
/// shorter, with 1 to 31 elements. n may be 0, and more than 2^31.
/// Writes highest[i] = the maximum of the group that x[i] belongs to, for every i < n.
/// - NaN counts as missing: the maximum is that of the numbers. A group of nothing but NaN has the
///   maximum -infinity. Numbers may be negative, and infinite.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads, also one that has
///   fewer threads than x has elements, or more.
/// - Every lane that the mask of a warp function names calls that function.
/// - Uses no shared memory, no atomics and no barrier, and loads every element once: a warp reads a
///   group with one load.
__global__ void warp_max_all_lanes(const float* x, std::size_t n, float* highest) {
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    float value = x[i];
    // TODO(you): three things are wrong with this. Who gets the maximum? Do all 32 lanes of the
    // mask come to the shuffles of the last group? And what does `>` say of a NaN?
    for (unsigned distance = 16; distance > 0; distance /= 2) {
      const float other = __shfl_down_sync(kAllLanes, value, distance);
      value = value > other ? value : other;
    }
    highest[i] = value;
  }
}
