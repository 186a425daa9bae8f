// A sum without lost updates that is wrong all the same: a float has 24 significant bits.
// Rungs: add_same_value_reference (exact enough), add_same_value_float, add_same_value (atomics).
// All addends are equal, so every order takes the same steps: the wrong result is predictable.
#pragma once

#include <cstddef>

#include "grid.cuh"

/// One run of the experiment: `start` plus `count` times `value`.
struct Stagnation {
  float start;
  std::size_t count;
  float value;
};

/// The full experiment: a hundred million times 1.23.
constexpr Stagnation kStagnationFull{0.0f, 100'000'000, 1.23f};

/// Its last part, for the CPU device: the sum is already close to 2^25.
constexpr Stagnation kStagnationEnd{33'554'432.0f - 32'768.0f, 60'000, 1.23f};

/// Where both stop. From 2^25 on neighbouring floats are 4 apart; 1.23 is less than half of that.
constexpr float kStagnatesAt = 33'554'432.0f;

/// Rung 0: what the sum should be.
inline double add_same_value_reference(const Stagnation& s) {
  return static_cast<double>(s.start) + static_cast<double>(s.count) * s.value;
}

/// The same additions in float on one CPU thread, so without any race.
inline float add_same_value_float(const Stagnation& s) {
  float sum = s.start;
  for (std::size_t i = 0; i < s.count; ++i) {
    const float next = sum + s.value;
    if (next == sum) break;  // stagnates: no further addition changes it
    sum = next;
  }
  return sum;
}

// Question: is a sum right once no update is lost?
// Changes:  100 million equal addends instead of an array; still one atomicAdd per element.
// Cost:     the same atomics; the error comes from rounding, not from threads.
__global__ void add_same_value(float value, std::size_t count, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) atomicAdd(d_y, value);
}
