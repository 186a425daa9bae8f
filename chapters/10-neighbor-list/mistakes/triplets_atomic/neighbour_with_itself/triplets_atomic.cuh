// k begins at j, so a neighbour makes a triplet with itself: more are written than there is room
// for, into the places of other atoms.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

struct Triplet {
  int first, middle, last;  // atoms; first stands before last in the list of middle
  float cosine;             // of the angle at middle
};

__device__ inline float cosine_at(const float* x, const float* y, int m, int a, int b) {
  const float ax = x[a] - x[m], ay = y[a] - y[m], bx = x[b] - x[m], by = y[b] - y[m];
  return (ax * bx + ay * by) * rsqrtf((ax * ax + ay * ay) * (bx * bx + by * by));
}

__global__ void append_triplets(const float* x, const float* y, const int* counts, const int* list,
                                std::size_t n, Triplet* triplets, unsigned capacity,
                                unsigned* required) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const int m = static_cast<int>(i);
    const int count = counts[m];
    if (count < 2) continue;
    unsigned at = atomicAdd(required, count * (count - 1) / 2);
    for (int j = 0; j < count; ++j) {
      for (int k = j; k < count; ++k) {
        if (at >= capacity) return;
        const int a = list[j * n + m], b = list[k * n + m];
        triplets[at++] = {a, m, b, cosine_at(x, y, m, a, b)};
      }
    }
  }
}
