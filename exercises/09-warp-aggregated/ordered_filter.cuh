// Exercise ordered_filter: when did the value change?
//
// A log has a number for every second, and most are equal to the one before. Keep the others: the
// first number of each run of equal ones, in their order, as std::unique does on the CPU. Whether a
// number is kept depends on its neighbour, and where it is written on all numbers before it.
//
// Two passes: count_changes counts in each part of the log, a prefix sum of the counts (ready to
// use, below) says where each part's output begins, and write_changes writes.
//
// Try it: ./course check ordered_filter
#pragma once

#include <cuda_runtime.h>

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// The index of the first number of part b if `parts` blocks share n numbers: part b begins at
/// part_begin(n, parts, b) and ends before part_begin(n, parts, b + 1). If n < parts, some are
/// empty.
__host__ __device__ inline std::size_t part_begin(std::size_t n, unsigned parts, unsigned b) {
  const std::size_t size = (n + parts - 1) / parts, begin = size * b;
  return begin < n ? begin : n;
}

/// counts[b] = how many numbers of part b are kept, for each block b of the grid: those that differ
/// from the number before them in x. x[0] is kept. The parts are those of part_begin(n, gridDim.x).
/// - Sets counts[b] even if the part is empty. No atomics.
/// - The grid has one dimension, and blocks have 32, 64, ... or 1024 threads. n may be 0.
/// - The threads share the work. Neighbouring threads read neighbouring numbers, with about two reads
///   for each number at most.
__global__ void count_changes(const int* x, std::size_t n, unsigned long long* counts) {
  // TODO(you): count what this block's part keeps.
  (void)x, (void)n;  // not used yet: delete this line when they are
  if (threadIdx.x == 0) counts[blockIdx.x] = 0;
}

/// Writes what part b keeps, in its order, from index begins[b] on: the numbers to `out`, and their
/// indices in x to `when`. Grid, parts and rules are those of count_changes.
__global__ void write_changes(const int* x, std::size_t n, const unsigned long long* begins,
                              int* out, unsigned long long* when) {
  // TODO(you): write what this block's part keeps.
  (void)x, (void)n, (void)begins, (void)out, (void)when;  // delete this line
}

/// Ready to use: replaces counts[b] by the sum of those before it, and sets *total. One block.
__global__ void begins_of_counts(unsigned long long* counts, unsigned parts,
                                 unsigned long long* total) {
  unsigned long long before = 0;
  for (unsigned first = 0; first < parts; first += blockDim.x) {
    const unsigned b = first + threadIdx.x;
    const auto scan = course::block_exclusive_scan(b < parts ? counts[b] : 0ull, course::Sum{});
    if (b < parts) counts[b] = before + scan.before;
    before += scan.total;
  }
  if (threadIdx.x == 0) *total = before;
}

/// The whole filter, ready to use: writes the numbers of x[0..n-1] that differ from the one before
/// them to out, and their indices to when, both in order, and returns how many there are. All
/// pointers are device memory; out and when have room for n.
inline std::size_t ordered_filter(const int* x, std::size_t n, int* out, unsigned long long* when) {
  if (n == 0) return 0;
  constexpr unsigned kBlock = 256;
  const auto parts = static_cast<unsigned>(n / 4096 < 1024 ? n / 4096 + 1 : 1024);
  course::DeviceBuffer<unsigned long long> counts(parts), total(1);
  count_changes<<<parts, kBlock>>>(x, n, counts.data());
  CUDA_CHECK_LAUNCH();
  begins_of_counts<<<1, kBlock>>>(counts.data(), parts, total.data());
  CUDA_CHECK_LAUNCH();
  write_changes<<<parts, kBlock>>>(x, n, counts.data(), out, when);
  CUDA_CHECK_LAUNCH();
  return total.front();
}
