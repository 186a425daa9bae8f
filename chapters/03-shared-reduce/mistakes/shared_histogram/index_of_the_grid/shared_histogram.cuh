// Clears and empties the pairs with the index of the whole grid, as if all blocks had them
// together: each block leaves out what lies in the stretches of the others.
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

constexpr unsigned kLevels = 16384;  // values of a sample
constexpr unsigned kPairs = kLevels / 2;
constexpr std::size_t kSharedBytes = kPairs * sizeof(unsigned);  // 32 KiB
constexpr unsigned kMostInBin = 65535;

__global__ void shared_histogram(const unsigned short* samples, std::size_t n, unsigned* bins) {
  // Bin v is the lower half of s_pairs[v / 2] if v is even, and the upper one if it is odd.
  extern __shared__ unsigned s_pairs[];
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t mine = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (std::size_t p = mine; p < kPairs; p += stride) s_pairs[p] = 0;

  // After so many samples a thread, no bin of the block can have overflowed: then they are emptied.
  const unsigned rounds = kMostInBin / blockDim.x;
  // `first` is the same in all threads of the block: all of them reach the barriers, or none.
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x; first < n;
       first += rounds * stride) {
    __syncthreads();  // all bins are 0 before anyone counts
    std::size_t i = first + threadIdx.x;
    for (unsigned r = 0; r < rounds && i < n; ++r, i += stride) {
      const unsigned v = samples[i];
      if (v < kLevels) atomicAdd_block(&s_pairs[v / 2], v % 2 == 0 ? 1u : 1u << 16);
    }
    __syncthreads();  // all have counted before anyone empties
    for (std::size_t p = mine; p < kPairs; p += stride) {
      const unsigned pair = s_pairs[p];
      if (pair % 65536 != 0) atomicAdd(&bins[2 * p], pair % 65536);
      if (pair / 65536 != 0) atomicAdd(&bins[2 * p + 1], pair / 65536);
      s_pairs[p] = 0;
    }
  }
}
