// Exercise warp_max_all_lanes: every lane gets the maximum of its warp.
//
// A sensor sends bursts of 32 readings. Each reading is compared with the highest one of its own
// burst, so all 32 lanes of a warp need the maximum. The kernel below is right for bursts that end
// with their highest reading. Its users complain:
// - "When the highest reading comes first, the later ones get a maximum that is lower."
// - "When a recording ends within a burst, the last maxima are wrong, or the program hangs."
// - "When a reading is NaN, some maxima are NaN, and some are not."
//
// Try it: ./course check warp_max_all_lanes
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <course/exercise.cuh>
#include <cstddef>

/// x[0..n-1] is cut into groups of 32: group g is x[32 g] to x[32 g + 31]. The last one may be
/// shorter, with 1 to 31 elements. n may be 0, and more than 2^31.
/// Writes highest[i] = the maximum of the group that x[i] belongs to, for every i < n.
/// - NaN counts as missing: the maximum is that of the numbers. A group without any number has the
///   maximum -infinity. Numbers may be negative, and infinite.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads, also one that has
///   fewer threads than x has elements, or more.
/// - Every lane that the mask of a warp function names calls that function, or has returned from the kernel.
/// - Uses no shared memory, no atomics and no barrier, and loads every element once: a warp reads a
///   group with one load.
__global__ void warp_max_all_lanes(const float* x, std::size_t n, float* highest) {
  constexpr unsigned kAllLanes = 0xffff'ffffu;
  const float nothing = -INFINITY;  // what a lane without a number contributes
  const unsigned lane = threadIdx.x % 32;
  const std::size_t warp = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  // `first` is the same for all lanes of a warp, so all of them make the same number of rounds.
  for (std::size_t first = warp * 32; first < n; first += stride) {
    const std::size_t i = first + lane;
    float value = i < n ? x[i] : nothing;
    if (isnan(value)) value = nothing;
    for (int distance = 16; distance > 0; distance /= 2) {
      value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, distance));
    }
    if (i < n) highest[i] = value;
  }
}
