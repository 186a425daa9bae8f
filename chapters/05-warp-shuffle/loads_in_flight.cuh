// How does a thread keep the memory busy while it waits?
// Rungs: sum_loads_in_flight. The Tuning of all fast rungs, and the loop that they share.
// A load takes longer than hundreds of additions. A thread that waits for each one leaves the
// memory idle; a thread that issues several before it uses the first waits once for all of them.
#pragma once

#include <algorithm>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstring>

#include "grid.cuh"
#include "pack_reduce.cuh"

/// Which packs a block reads. A round is what it has in flight at once: kLoads * kBlock packs.
enum class Share {
  interleaved,  // every gridDim.x-th round: all blocks move through the array side by side
  contiguous    // one stretch of the array, of whole rounds
};

/// Threads that a multiprocessor holds at most.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
inline constexpr unsigned kMultiprocessorThreads = 1024;
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || \
                                 __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200)
inline constexpr unsigned kMultiprocessorThreads = 1536;
#else
inline constexpr unsigned kMultiprocessorThreads = 2048;
#endif

/// Everything about a fast rung that is measured and not derived.
template <unsigned loads, unsigned block_size, unsigned resident, unsigned waves,
          course::CacheHint hint, Share share>
struct Tuning {
  static constexpr unsigned kLoads = loads;       // 16-byte loads in flight, a thread
  static constexpr unsigned kBlock = block_size;  // threads
  /// Blocks that have to fit on a multiprocessor. It tells the compiler how many registers a thread
  /// may have; with too few it puts loads behind additions to save some.
  static constexpr unsigned kResident = std::min(resident, kMultiprocessorThreads / block_size);
  /// Blocks in the grid: at most this many times what the GPU runs at once. More than 1 lets the
  /// hardware give a new block to whichever multiprocessor is done first.
  static constexpr unsigned kWaves = waves;
  static constexpr course::CacheHint kHint = hint;
  static constexpr Share kShare = share;
};

// Small: the time is latency, so few blocks, with one round of loads each. Large: the time is
// bandwidth. (Starting values, from counting bytes in flight; a GPU has the last word.)
using TunedForSmall = Tuning<4, 512, 2, 1, course::CacheHint::no_allocate, Share::interleaved>;
using TunedForLarge = Tuning<4, 256, 6, 4, course::CacheHint::no_allocate, Share::contiguous>;
inline constexpr std::size_t kSmallBytes = std::size_t{32} << 20;  // the last size that is small

/// The grid for an array, and what its blocks have to know.
struct PackGrid {
  unsigned blocks;
  std::size_t packs_per_block;  // of a contiguous share: whole rounds
};

/// `resident`: resident_blocks() of the kernel.
template <class TuningT>
PackGrid pack_grid(Packs split, unsigned resident) {
  constexpr std::size_t kRound = std::size_t{TuningT::kLoads} * TuningT::kBlock;
  const std::size_t rounds = (split.packs + kRound - 1) / kRound;
  const std::size_t most = std::size_t{resident} * TuningT::kWaves;
  const std::size_t rounds_per_block = std::max<std::size_t>((rounds + most - 1) / most, 1);
  std::size_t blocks = std::min(rounds, most);
  if (TuningT::kShare == Share::contiguous) {
    blocks = (rounds + rounds_per_block - 1) / rounds_per_block;
  }
  return {static_cast<unsigned>(std::max<std::size_t>(blocks, 1)), rounds_per_block * kRound};
}

/// The pack that begins at x, a multiple of 16: one load, with a hint for the caches.
template <course::CacheHint hint, class T>
__device__ __forceinline__ WidestPack<T> load_hinted(const T* x) {
  const uint4 bits = course::load_16_bytes<hint>(x);
  WidestPack<T> pack;
  memcpy(static_cast<void*>(&pack), &bits, sizeof bits);
  return pack;
}

/// This thread's part of an array: of the packs, and of head and tail.
template <class TuningT, class Accumulator, class T, class Operation>
__device__ __forceinline__ Accumulator share_reduce(const T* d_x, Packs split,
                                                    std::size_t packs_per_block, Operation op) {
  constexpr unsigned kLoads = TuningT::kLoads, kBlock = TuningT::kBlock, kRound = kLoads * kBlock;
  constexpr bool kContiguous = TuningT::kShare == Share::contiguous;
  constexpr std::size_t kPackSize = course::kWidestPack<T>;
  const std::size_t first = blockIdx.x * (kContiguous ? packs_per_block : kRound);
  const std::size_t step = kContiguous ? kRound : std::size_t{gridDim.x} * kRound;
  const std::size_t end = kContiguous ? min(first + packs_per_block, split.packs) : split.packs;
  const T* const d_packs = d_x + split.head;
  const Edges<Accumulator> edges = load_edges<Accumulator>(d_x, split, op);
  Accumulator result = Operation::template identity<Accumulator>();
  // In a round this thread has the packs i, i + kBlock, ..., i + (kLoads - 1) * kBlock.
  std::size_t i = first + threadIdx.x;
  for (; i + (kRound - kBlock) < end; i += step) {
    WidestPack<T> pack[kLoads];
    for (unsigned k = 0; k < kLoads; ++k) {  // all loads of a round are on their way ...
      pack[k] = load_hinted<TuningT::kHint>(d_packs + (i + k * kBlock) * kPackSize);
    }
    for (unsigned k = 0; k < kLoads; ++k) {  // ... before the first addition waits for one
      result = op(result, pack_reduce<Accumulator>(pack[k], op));
    }
  }
  for (unsigned k = 0; k + 1 < kLoads; ++k) {  // the array's last round may not be full
    const std::size_t at = i + k * kBlock;
    if (at < end) {
      const WidestPack<T> pack = load_hinted<TuningT::kHint>(d_packs + at * kPackSize);
      result = op(result, pack_reduce<Accumulator>(pack, op));
    }
  }
  return op(result, op(edges.head, edges.tail));
}

// Question: does the memory have enough to do while a thread waits?
// Changes:  every thread issues several 16-byte loads before it adds.
// Cost:     registers for the packs; the same bytes.
template <class TuningT, class T>
__global__ void __launch_bounds__(TuningT::kBlock, TuningT::kResident)
    sum_loads_in_flight(const T* d_x, Packs split, std::size_t packs_per_block, T* d_y) {
  T sum = share_reduce<TuningT, T>(d_x, split, packs_per_block, course::Sum{});
  sum = course::block_reduce(sum, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_y, sum);
}

/// Adds x[0] + ... + x[n-1] to *d_y. d_x is aligned to its elements, no more.
template <class TuningT = TunedForLarge, class T>
void sum_loads_in_flight(const T* d_x, std::size_t n, T* d_y, cudaStream_t stream) {
  if (n == 0) return;
  constexpr void (*kKernel)(const T*, Packs, std::size_t, T*) = sum_loads_in_flight<TuningT, T>;
  static const unsigned resident = resident_blocks(kKernel, TuningT::kBlock);
  const Packs split = split_packs(d_x, n);
  const PackGrid grid = pack_grid<TuningT>(split, resident);
  sum_loads_in_flight<TuningT, T>
      <<<grid.blocks, TuningT::kBlock, 0, stream>>>(d_x, split, grid.packs_per_block, d_y);
  CUDA_CHECK_LAUNCH();
}

/// Sets *d_y to the sum: the same with the zeroing that an atomic finish needs, a memset in the
/// stream. n == 0 gives 0.
template <class TuningT = TunedForLarge, class T>
void sum_loads_and_memset(const T* d_x, std::size_t n, T* d_y, cudaStream_t stream) {
  CUDA_CHECK(cudaMemsetAsync(d_y, 0, sizeof(T), stream));
  sum_loads_in_flight<TuningT>(d_x, n, d_y, stream);
}
