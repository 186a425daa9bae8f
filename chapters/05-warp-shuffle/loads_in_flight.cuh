// How does a thread keep memory busy while it waits?
// Rungs: sum_loads_in_flight, sum_loads_hinted, sum_loads_and_memset. The Tuning of all fast rungs,
// and the loop that they share.
// A load takes longer than hundreds of additions. A thread that waits for each one leaves memory
// idle; a thread that issues several before it uses the first waits once for all of them.
#pragma once

#include <algorithm>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstring>

#include "grid.cuh"
#include "pack_reduce.cuh"

/// Everything about a fast rung that is measured and not derived.
template <unsigned loads, unsigned block_size, course::CacheHint hint>
struct Tuning {
  static constexpr unsigned kLoads = loads;       // 16-byte loads in flight per thread
  static constexpr unsigned kBlock = block_size;  // threads
  static constexpr course::CacheHint kHint = hint;
  static constexpr unsigned kRound = loads * block_size;  // packs that a block loads at once
};

// Measured on an H200, from 2^20 to 2^28 floats: blocks of 1024 threads, one round of 64 KiB each.
// Up to 128 MiB, about twice its L2 cache, the hint gains time (12 % for 2^24 floats, nothing for
// 2^20); above it costs some.
using TunedForSmall = Tuning<4, 1024, course::CacheHint::no_allocate>;
using TunedForLarge = Tuning<4, 1024, course::CacheHint::none>;
inline constexpr std::size_t kSmallBytes = std::size_t{128} << 20;  // the last size that is small

/// Calls launch(tuning) with the Tuning for n elements of type T. sum_loads_hinted and all rungs
/// after it use this one, so that they differ in their finish alone.
template <class T, class Launch>
auto with_tuning(std::size_t n, Launch launch) {
  return n <= kSmallBytes / sizeof(T) ? launch(TunedForSmall{}) : launch(TunedForLarge{});
}

/// One block per round, but at most `most`. The SM that finishes first gets the next block: the
/// hardware distributes the work while the kernel runs.
template <class TuningT>
unsigned blocks_for_rounds(Packs split, std::size_t most = (std::size_t{1} << 31) - 1) {
  const std::size_t rounds = (split.packs + TuningT::kRound - 1) / TuningT::kRound;
  return static_cast<unsigned>(std::clamp<std::size_t>(rounds, 1, most));
}

/// The pack that begins at x, a multiple of 16: one load, with a hint for the caches.
template <course::CacheHint hint, class T>
__device__ __forceinline__ WidestPack<T> load_hinted(const T* x) {
  const uint4 bits = course::load_16_bytes<hint>(x);
  WidestPack<T> pack;
  memcpy(static_cast<void*>(&pack), &bits, sizeof bits);
  return pack;
}

/// The reduction of this thread's part of an array: of its packs, and of head and tail. Block b has
/// the rounds b, b + gridDim.x, ...: only one if the grid has one block per round.
template <class TuningT, class Accumulator, class T, class Operation>
__device__ __forceinline__ Accumulator share_reduce(const T* d_x, Packs split, Operation op) {
  constexpr unsigned kLoads = TuningT::kLoads, kBlock = TuningT::kBlock, kRound = TuningT::kRound;
  constexpr std::size_t kPackSize = course::kWidestPack<T>;
  const T* const d_packs = d_x + split.head;
  const Edges<Accumulator> edges = load_edges<Accumulator>(d_x, split, op);
  Accumulator result = Operation::template identity<Accumulator>();
  // In a round this thread has the packs i, i + kBlock, ..., i + (kLoads - 1) * kBlock.
  std::size_t i = std::size_t{blockIdx.x} * kRound + threadIdx.x;
  for (; i + (kRound - kBlock) < split.packs; i += std::size_t{gridDim.x} * kRound) {
    WidestPack<T> pack[kLoads];
    for (unsigned k = 0; k < kLoads; ++k) {  // all loads of a round are issued ...
      pack[k] = load_hinted<TuningT::kHint>(d_packs + (i + k * kBlock) * kPackSize);
    }
    for (unsigned k = 0; k < kLoads; ++k) {  // ... before the first addition waits for one
      result = op(result, pack_reduce<Accumulator>(pack[k], op));
    }
  }
  for (unsigned k = 0; k + 1 < kLoads; ++k) {  // the array's last round may not be full
    const std::size_t at = i + k * kBlock;
    if (at < split.packs) {
      const WidestPack<T> pack = load_hinted<TuningT::kHint>(d_packs + at * kPackSize);
      result = op(result, pack_reduce<Accumulator>(pack, op));
    }
  }
  return op(result, op(edges.head, edges.tail));
}

// Question: does memory have enough to do while a thread waits?
// Changes:  every thread issues several 16-byte loads before it adds; one block per round.
// Cost:     registers for the packs, one atomic per block again; the same bytes.
template <class TuningT, class T>
__global__ void __launch_bounds__(TuningT::kBlock)
    sum_loads_in_flight(const T* d_x, Packs split, T* d_y) {
  T sum = share_reduce<TuningT, T>(d_x, split, course::Sum{});
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_y, sum);
}

/// Adds x[0] + ... + x[n-1] to *d_y, without a hint. d_x needs no alignment beyond that of its
/// elements.
template <class TuningT = TunedForLarge, class T>
void launch_sum_loads_in_flight(const T* d_x, std::size_t n, T* d_y) {
  if (n == 0) return;
  const Packs split = split_packs(d_x, n);
  course::launch(sum_loads_in_flight<TuningT, T>,
                 {blocks_for_rounds<TuningT>(split), TuningT::kBlock}, d_x, split, d_y);
}

/// Adds x[0] + ... + x[n-1] to *d_y: the same kernel, with a hint for the caches if x is small.
template <class T>
void sum_loads_hinted(const T* d_x, std::size_t n, T* d_y) {
  with_tuning<T>(n,
                 [&]<class TuningT>(TuningT) { launch_sum_loads_in_flight<TuningT>(d_x, n, d_y); });
}

/// Sets *d_y to the sum: the same, after the memset that a finish by atomics needs. n == 0 gives 0.
template <class T>
void sum_loads_and_memset(const T* d_x, std::size_t n, T* d_y) {
  CUDA_CHECK(cudaMemsetAsync(d_y, 0, sizeof(T)));
  sum_loads_hinted(d_x, n, d_y);
}
