// Exercise block_scan_any: the scan of a block, for any operation.
//
// A scan asks one thing of its operation: (a op b) op c is a op (b op c). It need not commute, and
// its identity need not be known. To go one step and then another is such an operation, and so is the
// product of matrices: a block that scans steps knows where each of them leads.
//
// Try it: ./course check block_scan_any
#pragma once

#include <cuda_runtime.h>

#include <course/exercise.cuh>
#include <cstring>

/// The value of the lane that is `distance` lanes below, of any type. Ready to use.
template <class T>
__device__ T value_below(unsigned mask, const T& value, unsigned distance) {
  unsigned words[sizeof(T) / 4];
  std::memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_up_sync(mask, word, distance);
  T below = value;
  std::memcpy(static_cast<void*>(&below), words, sizeof below);
  return below;
}

/// Thread t of the block gets op(x[0], ..., x[t]) for every t < count, where x[t] is thread t's `value`:
/// op(op(x[0], x[1]), x[2]) for thread 2. An inclusive scan.
/// - op is associative. It need not commute: the operands keep their order. It may have members, and
///   no identity of it is known.
/// - T has 4, 8, 12 or 16 bytes, and is copied as bytes.
/// - The block has one dimension, and 1 to 1024 threads: 33 or 1000, too.
/// - count is the same for all threads, 0 to blockDim.x. Threads from `count` on have no value: what
///   they pass and what they get means nothing, and op may be called with it.
/// - All threads of the block call it, also several times in a row.
/// - The threads share the work. It uses no global memory.
template <class T, class Operation>
__device__ T block_scan_any(T value, unsigned count, Operation op) {
  __shared__ T s_total[32];  // warp w's
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned rest = blockDim.x - 32 * warp;  // threads from this warp on
  const unsigned mask = rest < 32 ? (1u << rest) - 1 : 0xffff'ffffu;
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const T below = value_below(mask, value, distance);
    if (lane >= distance) value = op(below, value);
  }
  __syncthreads();  // all have read what the call before this one left in s_total
  if (lane == 31) s_total[warp] = value;
  __syncthreads();  // the totals of all full warps are there
  if (warp == 0 || threadIdx.x >= count) return value;
  T before = s_total[0];  // no identity: the first one begins
  for (unsigned w = 1; w < warp; ++w) before = op(before, s_total[w]);
  return op(before, value);
}
