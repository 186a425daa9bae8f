// What does a release by one thread cover of what the other threads of its block have written?
// Rungs: add_parts<Barriers::both>, and what is wrong on purpose: add_parts<Barriers::of_reader> and
// add_parts<Barriers::of_writers>.
// All blocks but the last one write a part each, and the last block adds the parts.
#pragma once

#include <course/buffer.cuh>
#include <course/launch.cuh>
#include <cstddef>
#include <cuda/atomic>
#include <vector>

#include "locks.cuh"

/// Where a barrier lies between the threads of a block and its thread 0, which arrives or waits.
enum class Barriers { both, of_reader, of_writers };

// Question: thread 0 arrives with a release. Does that cover what the other threads wrote?
// Changes:  only if a barrier lies between: their stores happen before the barrier, the barrier
//           before the release. In the last block the barrier comes after the acquire, in the same way.
// Cost:     one atomic per block, and two barriers; a thread that arrived for itself would need no
//           barrier, but blockDim.x times as many atomics.
template <Barriers barriers>
__global__ void add_parts(const unsigned* d_x, unsigned* d_parts, unsigned* d_arrived,
                          unsigned* d_sums) {
  const DeviceWord arrived(*d_arrived);
  const unsigned writers = gridDim.x - 1;
  if (blockIdx.x < writers) {
    const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    d_parts[i] = 2 * d_x[i];
    if constexpr (barriers != Barriers::of_reader) __syncthreads();  // the whole part is written
    if (threadIdx.x == 0) arrived.fetch_add(1, cuda::std::memory_order_release);
    return;
  }
  if (threadIdx.x == 0) {
    while (arrived.load(cuda::std::memory_order_acquire) != writers) {
    }
  }
  if constexpr (barriers != Barriers::of_writers)
    __syncthreads();  // thread 0 has seen all arrivals
  unsigned sum = 0;
  for (unsigned b = 0; b < writers; ++b) sum += d_parts[std::size_t{b} * blockDim.x + threadIdx.x];
  d_sums[threadIdx.x] = sum;
}

/// Rung 0: the sums of a grid of `writers` blocks of `threads`, and the block that adds.
inline std::vector<unsigned> add_parts_reference(const std::vector<unsigned>& x, unsigned threads) {
  std::vector<unsigned> sums(threads, 0);
  for (std::size_t i = 0; i < x.size(); ++i) sums[i % threads] += 2 * x[i];
  return sums;
}

/// Blocks that write a part each, and one that adds the parts.
struct HandoverMemory {
  unsigned writers;
  course::DeviceBuffer<unsigned> parts{std::size_t{writers} * kBlockSize};
  course::DeviceBuffer<unsigned> arrived{1}, sums{kBlockSize};

  void reset() {
    parts.fill_bytes(0xFF);
    arrived.fill_bytes(0);
    sums.fill_bytes(0xFF);
  }
};

/// m.sums = the sums of the parts; d_x has a value for each thread of the writers.
template <Barriers barriers>
void launch_add_parts(const unsigned* d_x, HandoverMemory& m) {
  course::launch(add_parts<barriers>, {m.writers + 1, kBlockSize}, d_x, m.parts.data(),
                 m.arrived.data(), m.sums.data());
}
