// The place is an int: once required is beyond 2^31, it is negative, less than every capacity, and
// what lies in front of the list is overwritten.
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
  for (std::size_t m = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; m < n; m += stride) {
    const int count = counts[m];
    if (count < 2) continue;
    // From `place` on there is room for mine: others begin behind them, or ended before.
    int place =
        static_cast<int>(atomicAdd(required, static_cast<unsigned>(count * (count - 1) / 2)));
    for (int j = 0; j < count; ++j) {
      const int first = list[static_cast<std::size_t>(j) * n + m];
      for (int k = j + 1; k < count; ++k, ++place) {
        if (place >= static_cast<int>(capacity)) continue;
        const int last = list[static_cast<std::size_t>(k) * n + m], middle = static_cast<int>(m);
        Triplet& mine = triplets[place];
        mine.first = first;
        mine.middle = middle;
        mine.last = last;
        mine.cosine = cosine_at(x, y, middle, first, last);
      }
    }
  }
}
