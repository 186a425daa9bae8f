// Exercise radix_pass: one pass of a radix sort, by four bits of each key.
//
// A sort that compares nothing: order the keys by their lowest four bits, then by the next four, and
// after eight passes over 32 bits they are sorted. That holds because a pass is stable: keys whose digits
// are equal keep the order that the pass before gave them. So a key's place is how many keys
// have a smaller digit, and how many before it have the same one: two counts, of which a scan gives each.
//
// Three kernels: count_digits counts the digits of each part of the array, the second one (ready to use,
// below) scans the counts, and move_pairs moves keys and their values to their places.
//
// Try it: ./course check radix_pass
#pragma once

#include <cuda_runtime.h>

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/launch.cuh>
#include <course/ptx.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

constexpr unsigned kThreads = 256, kWarps = kThreads / 32;
constexpr unsigned kDigitBits = 4, kDigits = 1u << kDigitBits;

/// Ready to use: part b begins at part_begin(n, parts, b), and ends before part_begin(n, parts, b + 1).
__host__ __device__ inline std::size_t part_begin(std::size_t n, unsigned parts, unsigned b) {
  const std::size_t size = (n + parts - 1) / parts, begin = size * b;
  return begin < n ? begin : n;
}

/// Ready to use, the digit that a pass orders by: the four bits of the key from bit `shift` on.
__host__ __device__ inline unsigned digit_of(unsigned key, unsigned shift) {
  return key >> shift & (kDigits - 1);
}

/// counts[d * gridDim.x + b] = how many keys of part b have the digit d, for each block b of kThreads
/// threads and each digit d.
__global__ void count_digits(const unsigned* keys, std::size_t n, unsigned shift,
                             unsigned* counts) {
  // TODO(you): count the digits of the block's part.
  (void)keys, (void)n, (void)shift, (void)counts;  // not used yet: delete this line
}

/// Ready to use: replaces counts[j] by the sum of those before it. One block of kThreads threads.
__global__ void scan_counts(unsigned* counts, unsigned size) {
  unsigned before = 0;
  for (unsigned first = 0; first < size; first += kThreads) {
    const unsigned j = first + threadIdx.x;
    const auto scan = course::block_exclusive_scan(j < size ? counts[j] : 0u, course::Sum{});
    if (j < size) counts[j] = before + scan.before;
    before += scan.total;
  }
}

/// Moves the pairs of part b: those with the digit d go to places[d * gridDim.x + b] and following, in their
/// order. Each block has kThreads threads.
__global__ void move_pairs(const unsigned* keys, const unsigned* values, std::size_t n,
                           unsigned shift, const unsigned* places, unsigned* out_keys,
                           unsigned* out_values) {
  // TODO(you): move the pairs of the block's part.
  (void)keys, (void)values, (void)n, (void)shift, (void)places;  // not used yet: delete this line
  (void)out_keys, (void)out_values;                              // and this one
}

/// Pairs of a key and its value, ordered by the key's digit: the four bits of keys[i] from bit `shift` on.
/// Writes the pairs whose digit is 0, then those whose digit is 1, and so on to 15; pairs of the same digit
/// keep their order.
/// - n may be 0, and is at most 2^30. shift is 0 to 31; bits past the key's highest are 0.
/// - keys, values, out_keys and out_values begin at any element, and do not overlap.
/// - The outputs have room for n elements each; nothing else is written.
/// - Each call orders what is in memory then.
/// - Kernels count, and move the pairs, with at most 10 loads per pair. The threads of many blocks
///   share the work, also where all digits are equal.
inline void radix_pass(const unsigned* keys, const unsigned* values, std::size_t n, unsigned shift,
                       unsigned* out_keys, unsigned* out_values) {
  if (n == 0) return;
  const auto parts = static_cast<unsigned>(n / 1024 < 1024 ? n / 1024 + 1 : 1024);
  course::DeviceBuffer<unsigned> counts(kDigits * parts);
  course::launch(count_digits, {parts, kThreads}, keys, n, shift, counts.data());
  course::launch(scan_counts, {1, kThreads}, counts.data(), kDigits * parts);
  course::launch(move_pairs, {parts, kThreads}, keys, values, n, shift, counts.data(), out_keys,
                 out_values);
}
