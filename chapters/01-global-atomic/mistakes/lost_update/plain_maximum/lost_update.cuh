// An ordinary comparison and an ordinary store: another thread's higher reading is overwritten, and
// a race is reported.
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
    if (reading > *peak) *peak = reading;
  }
}
