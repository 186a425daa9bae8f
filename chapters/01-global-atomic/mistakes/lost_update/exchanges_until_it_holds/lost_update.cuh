// Looks and exchanges until the peak is not lower: between the last look and the exchange a higher
// reading may come, which a lower one then replaces, and whoever wrote the higher one has stopped
// looking.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void summarize_readings(const int* readings, std::size_t n, int limit, unsigned* alarms,
                                   int* peak) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const int reading = readings[i];
    if (reading > limit) atomicAdd(alarms, 1u);

    // try again until the peak is not lower than the reading
    while (reading > atomicAdd(peak, 0)) {
      atomicExch(peak, reading);
    }
  }
}
