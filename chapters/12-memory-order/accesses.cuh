// What does a memory order cost, if the accesses alone are timed?
// Rungs: message_passing, same_address and independent_readers of litmus.cuh without what their times include: no
// delay, no clearing, no counting.
#pragma once

#include <algorithm>
#include <course/buffer.cuh>
#include <course/launch.cuh>
#include <cstddef>
#include <vector>

#include "grid.cuh"
#include "litmus.cuh"

constexpr unsigned kTurns = 16;  // tests of a thread

/// What a thread has seen in the tests first, first + blockDim.x, ...: the sum of it.
template <class Test, Order order>
__device__ __forceinline__ unsigned play_turns(unsigned role, std::size_t first, unsigned* d_x,
                                               unsigned* d_y) {
  unsigned seen[kTurns];
#pragma unroll
  for (unsigned k = 0; k < kTurns; ++k) {
    const std::size_t test = first + std::size_t{k} * blockDim.x;
    seen[k] = Test::template play<order>(role, &d_x[test], &d_y[test]);
  }
  unsigned sum = 0;
  for (unsigned k = 0; k < kTurns; ++k) sum += seen[k];
  return sum;
}

// Question: how much longer do the accesses of a test take in a stronger order?
// Changes:  each thread plays its role in kTurns tests, one after the other, on words that were cleared before the
//           launch; no thread pauses, and no result is counted.
// Cost:     the same loads and stores for every order, and one store per thread, for which the loads are needed.
template <class Test, Order order>
__global__ void accesses(unsigned* d_x, unsigned* d_y, unsigned* d_sums) {
  const unsigned role = blockIdx.x % Test::kRoles;
  const std::size_t group = blockIdx.x / Test::kRoles;
  const std::size_t first = group * kTurns * blockDim.x + threadIdx.x;
  unsigned sum = 0;
#pragma unroll
  for (unsigned r = 0; r < Test::kRoles; ++r) {  // r is a constant: no branch between the accesses
    if (role == r) sum = play_turns<Test, order>(r, first, d_x, d_y);
  }
  d_sums[std::size_t{blockIdx.x} * blockDim.x + threadIdx.x] = sum;
}

/// What the accesses of `tests` litmus tests work in: a multiple of kTurns * kBlockSize.
struct AccessMemory {
  std::size_t tests;
  course::DeviceBuffer<unsigned> x{tests}, y{tests};
  course::DeviceBuffer<unsigned> sums{4 * tests / kTurns};

  void reset() {
    x.fill_bytes(0);
    y.fill_bytes(0);
  }
  /// Words that a store has set to 1.
  std::size_t stored() const {
    std::size_t ones = 0;
    for (const auto& words : {x.download(), y.download()}) {
      ones += static_cast<std::size_t>(std::count(words.begin(), words.end(), 1u));
    }
    return ones;
  }
};

template <class Test, Order order>
void launch_accesses(AccessMemory& memory) {
  const auto groups = static_cast<unsigned>(memory.tests / kTurns / kBlockSize);
  course::launch(accesses<Test, order>, {Test::kRoles * groups, kBlockSize}, memory.x.data(),
                 memory.y.data(), memory.sums.data());
}
