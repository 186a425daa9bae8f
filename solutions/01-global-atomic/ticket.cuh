// Exercise ticket: many threads append to one list.
//
// It is not known in advance how many samples are too loud, nor in which order the threads find
// them. The list has a fixed capacity. Hits that do not fit are counted, and not stored.
//
// Try it: ./course check ticket
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

/// Appends to hits[] the index i of every sample with samples[i] > limit (NaN is not above it).
/// - *required counts all hits, stored or not: the capacity that would have been enough.
/// - It appends: *required may count hits of earlier launches; their slots are not written again.
/// - Slots below `capacity` that are needed are filled, each once; the order is unspecified.
/// - hits[capacity] and everything after it is not written, however many hits there are.
/// - n is at most 2^32, so that every index fits, and *required does not wrap. samples is aligned to
///   4 bytes, no more.
/// - Right for every one-dimensional grid. The threads share the work.
__global__ void append_loud(const float* samples, std::size_t n, float limit, unsigned* hits,
                            unsigned capacity, unsigned* required) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (samples[i] > limit) {
      const unsigned ticket = atomicAdd(required, 1u);  // mine alone: no other thread got it
      if (ticket < capacity) hits[ticket] = static_cast<unsigned>(i);
    }
  }
}
