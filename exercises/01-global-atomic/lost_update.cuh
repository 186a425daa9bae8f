// Exercise lost_update: find the bug, and fix it.
//
// A weather station sends temperatures in tenths of a degree. A kernel counts the alarms and keeps
// the peak. The number of alarms is always right. The peak is sometimes too low, although every
// access to it is atomic.
//
// Try it: ./course check lost_update
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// Evaluates n readings:
/// - adds to *alarms the number of readings above the limit;
/// - raises *peak to the highest reading, if that is higher than what *peak holds already.
/// The caller initialises both. Readings may be negative, and are aligned to 4 bytes, no more.
/// Right for every one-dimensional grid. The threads share the work.
__global__ void summarize_readings(const int* readings, std::size_t n, int limit, unsigned* alarms,
                                   int* peak) {
  // TODO(you): find out why the peak is sometimes too low, and fix it.
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const int reading = readings[i];
    if (reading > limit) atomicAdd(alarms, 1u);
    const int highest = atomicAdd(peak, 0);  // adds nothing: an atomic way to read
    if (reading > highest) atomicExch(peak, reading);
  }
}
