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
  __shared__ unsigned s_counts[kDigits];
  if (threadIdx.x < kDigits) s_counts[threadIdx.x] = 0;
  __syncthreads();  // all counters are 0
  const std::size_t end = part_begin(n, gridDim.x, blockIdx.x + 1);
  for (std::size_t i = part_begin(n, gridDim.x, blockIdx.x) + threadIdx.x; i < end; i += kThreads) {
    atomicAdd(&s_counts[digit_of(keys[i], shift)], 1u);
  }
  __syncthreads();  // the part is counted
  if (threadIdx.x < kDigits) counts[threadIdx.x * gridDim.x + blockIdx.x] = s_counts[threadIdx.x];
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
  __shared__ unsigned s_next[kDigits];            // where the next key of a digit goes
  __shared__ unsigned s_counts[kWarps][kDigits];  // how many keys a warp has now
  const unsigned t = threadIdx.x, warp = t / 32;
  if (t < kDigits) s_next[t] = places[t * gridDim.x + blockIdx.x];
  if (t < kWarps * kDigits) s_counts[t / kDigits][t % kDigits] = 0;
  const std::size_t end = part_begin(n, gridDim.x, blockIdx.x + 1);
  for (std::size_t first = part_begin(n, gridDim.x, blockIdx.x); first < end; first += kThreads) {
    const std::size_t i = first + t;
    const unsigned key = i < end ? keys[i] : 0;
    const unsigned digit = i < end ? digit_of(key, shift) : kDigits;  // kDigits: no key
    const unsigned peers = __match_any_sync(0xffff'ffffu, digit);
    const unsigned lower = __popc(peers & course::lanemask_lt());
    __syncthreads();  // the counters are 0, and the next places known
    if (i < end && lower == 0) s_counts[warp][digit] = __popc(peers);
    __syncthreads();  // all warps have counted
    if (i < end) {
      unsigned place = s_next[digit] + lower;
      for (unsigned w = 0; w < warp; ++w) place += s_counts[w][digit];
      out_keys[place] = key;
      out_values[place] = values[i];
    }
    __syncthreads();  // all have their places
    if (t < kDigits) {
      for (unsigned w = 0; w < kWarps; ++w) {
        s_next[t] += s_counts[w][t];
        s_counts[w][t] = 0;
      }
    }
  }
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
