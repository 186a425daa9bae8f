// How do 2^16 counters of 32 bits, 256 KiB, fit into shared memory of at most 227 KiB?
// Rungs: histogram_global, histogram_passes, histogram_cluster and its control histogram_cluster_red,
// histogram_exchange, histogram_halves.
//
//   for i in 0..n-1:  bins[values[i]] += 1
//
// values are 16-bit numbers below `bins`, a power of two from 8 to 2^16; they begin at a multiple of 16
// bytes. Every launch sets all bins.
#pragma once

#include <algorithm>
#include <course/cluster.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/ptx.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <cstdint>
#include <vector>

using Value = std::uint16_t;

/// Rung 0.
inline std::vector<unsigned> histogram_reference(const std::vector<Value>& values, unsigned bins) {
  std::vector<unsigned> counts(bins, 0);
  for (const Value value : values) ++counts[value];
  return counts;
}

/// What every rung gets.
struct Counting {
  const Value* d_values;
  std::size_t n;
  unsigned* d_bins;
  unsigned bins;
};

constexpr unsigned kHistogramBlock = 1024;  // threads
constexpr unsigned kValuesPerPack = 8;      // in 16 bytes
constexpr unsigned kPacks = 4;              // in flight per thread

/// Calls count(value) for the eight values of a pack.
template <class Count>
__device__ __forceinline__ void each_value(uint4 pack, Count count) {
  for (const unsigned word : {pack.x, pack.y, pack.z, pack.w}) {
    count(word & 0xFFFF);
    count(word >> 16);
  }
}

/// Pack i of the values: one load.
__device__ __forceinline__ uint4 load_values(const Counting& in, std::size_t i) {
  return course::load_16_bytes<course::CacheHint::read_once>(in.d_values + kValuesPerPack * i);
}

/// Calls count(value) for this thread's share of all values: `thread` of so many `threads`.
template <class Count>
__device__ __forceinline__ void each_of_share(const Counting& in, std::size_t thread,
                                              std::size_t threads, Count count) {
  const std::size_t packs = in.n / kValuesPerPack;
  std::size_t i = thread;
  for (; i + (kPacks - 1) * threads < packs; i += kPacks * threads) {
    uint4 pack[kPacks];
    for (unsigned k = 0; k < kPacks; ++k) {  // all loads are issued before the first is used
      pack[k] = load_values(in, i + k * threads);
    }
    for (unsigned k = 0; k < kPacks; ++k) each_value(pack[k], count);
  }
  for (; i < packs; i += threads) each_value(load_values(in, i), count);
  const std::size_t rest = packs * kValuesPerPack + thread;  // up to seven values fill no pack
  if (rest < in.n) count(in.d_values[rest]);
}

/// s_counts[0..count-1] = 0, by all threads of the block.
__device__ __forceinline__ void clear(unsigned* s_counts, unsigned count) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) s_counts[i] = 0;
}

/// d_bins[0..count-1] += s_counts[0..count-1], where that is not 0.
__device__ __forceinline__ void add_counts(const unsigned* s_counts, unsigned count,
                                           unsigned* d_bins) {
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
    if (s_counts[i] != 0) atomicAdd(d_bins + i, s_counts[i]);
  }
}

// Question: what does a histogram cost whose bins are in global memory?
// Changes:  nothing yet: 16-byte loads, and an atomic in the L2 cache per value.
// Cost:     n atomics on global memory.
__global__ void __launch_bounds__(kHistogramBlock) histogram_global(Counting in) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  each_of_share(in, thread, std::size_t{gridDim.x} * blockDim.x,
                [&](unsigned value) { atomicAdd(in.d_bins + value, 1u); });
}

// Question: what if each block counts one half of the bins only?
// Changes:  even blocks have the low half, odd ones the high half, and both halves read all values.
// Cost:     one shared atomic per value, but every value is read twice.
__global__ void __launch_bounds__(kHistogramBlock) histogram_passes(Counting in) {
  extern __shared__ unsigned s_counts[];
  const unsigned part = in.bins / 2, first = blockIdx.x % 2 * part;
  clear(s_counts, part);
  __syncthreads();  // all counters are 0
  const std::size_t thread = std::size_t{blockIdx.x / 2} * blockDim.x + threadIdx.x;
  each_of_share(in, thread, std::size_t{gridDim.x / 2} * blockDim.x, [&](unsigned value) {
    const unsigned bin = value - first;  // a value below `first` becomes a huge number
    if (bin < part) atomicAdd(s_counts + bin, 1u);
  });
  __syncthreads();  // all values are counted
  add_counts(s_counts, part, in.d_bins + first);
}

// Question: can two blocks share one histogram, so that every value is read once?
// Changes:  a cluster of two; a value is counted in the shared memory of the block that has its bin.
// Cost:     half of the atomics go from one SM to another.
__global__ void __launch_bounds__(kHistogramBlock) histogram_cluster(Counting in) {
  extern __shared__ unsigned s_counts[];
  const auto cluster = course::this_cluster();
  const unsigned part = in.bins / cluster.num_blocks();
  clear(s_counts, part);
  cluster.sync();  // all blocks have begun, and all counters are 0
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  each_of_share(in, thread, std::size_t{gridDim.x} * blockDim.x, [&](unsigned value) {
    unsigned* const s_owner = cluster.map_shared_rank(s_counts, static_cast<int>(value / part));
    atomicAdd(s_owner + value % part, 1u);
  });
  cluster.sync();  // all values are counted: no block leaves before
  add_counts(s_counts, part, in.d_bins + cluster.block_rank() * part);
}

// Question: is it the generic address that makes the atomics of histogram_cluster slow?
// Changes:  PTX that names the memory: mapa.shared::cluster and red.shared::cluster, of cluster scope.
// Cost:     the same atomics, half of them from one SM to another.
__global__ void __launch_bounds__(kHistogramBlock) histogram_cluster_red(Counting in) {
  extern __shared__ unsigned s_counts[];
  const auto cluster = course::this_cluster();
  const unsigned part = in.bins / cluster.num_blocks();
  clear(s_counts, part);
  cluster.sync();  // all blocks have begun, and all counters are 0
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  each_of_share(in, thread, std::size_t{gridDim.x} * blockDim.x, [&](unsigned value) {
    course::red_add_in_cluster(s_counts + value % part, value / part, 1);
  });
  cluster.sync();  // all values are counted: no block leaves before
  add_counts(s_counts, part, in.d_bins + cluster.block_rank() * part);
}

// Question: can the two blocks send values to each other, instead of atomics?
// Changes:  each block stores what it reads in the other's shared memory, too, 16 bytes at a time.
// Cost:     every value crosses once, as a store; both blocks look at all values of the pair.
__global__ void __launch_bounds__(kHistogramBlock) histogram_exchange(Counting in) {
  extern __shared__ __align__(16) unsigned s_counts[];  // `part` counters, then packs: two rounds
  const auto cluster = course::this_cluster();
  const unsigned part = in.bins / 2, rank = cluster.block_rank(), first = rank * part;
  uint4* const s_received = reinterpret_cast<uint4*>(s_counts + part);
  uint4* const s_sent = cluster.map_shared_rank(s_received, static_cast<int>(1 - rank));
  clear(s_counts, part);
  cluster.sync();  // both blocks have begun, and all counters are 0
  const auto count = [&](unsigned value) {
    const unsigned bin = value - first;
    if (bin < part) atomicAdd(s_counts + bin, 1u);
  };
  const std::size_t packs = in.n / kValuesPerPack, step = std::size_t{gridDim.x} * blockDim.x;
  const std::size_t pair = std::size_t{blockIdx.x - rank} * blockDim.x;  // the pair's first pack
  unsigned side = 0;
  for (std::size_t at = pair; at < packs; at += step) {
    const std::size_t mine = at + rank * blockDim.x + threadIdx.x;
    const std::size_t theirs = at + (1 - rank) * blockDim.x + threadIdx.x;
    const unsigned slot = side * blockDim.x + threadIdx.x;
    uint4 pack{};
    if (mine < packs) {
      pack =
          course::load_16_bytes<course::CacheHint::read_once>(in.d_values + kValuesPerPack * mine);
      s_sent[slot] = pack;
    }
    cluster.barrier_arrive();  // the other block may read what this one has sent
    if (mine < packs) each_value(pack, count);
    cluster.barrier_wait();  // what the other one has sent is there
    if (theirs < packs) each_value(s_received[slot], count);
    side ^= 1;  // a barrier lies between this round's reads and the next writes of the same side
  }
  const std::size_t rest = packs * kValuesPerPack + threadIdx.x;
  if (blockIdx.x < 2 && rest < in.n) count(in.d_values[rest]);
  cluster.sync();  // all values are counted: no block leaves before
  add_counts(s_counts, part, in.d_bins + first);
}

/// A counter of 16 bits goes to global memory when it has counted so many.
constexpr unsigned kCarry = 0x8000;

// Question: do counters need 32 bits?
// Changes:  two counters of 16 bits per word: all bins fit into one SM, and no block needs another.
// Cost:     the thread that brings a counter to 2^15 moves 2^15 to global memory: the atomic's old value
//           tells. Before the next barrier all others count at most 1023 * 32 more: no overflow.
__global__ void __launch_bounds__(kHistogramBlock) histogram_halves(Counting in) {
  extern __shared__ unsigned s_pairs[];
  clear(s_pairs, in.bins / 2);
  const auto count = [&](unsigned value) {
    const unsigned shift = value % 2 * 16;
    const unsigned old = atomicAdd(s_pairs + value / 2, 1u << shift) >> shift & 0xFFFF;
    if (old + 1 != kCarry) return;
    atomicSub(s_pairs + value / 2, kCarry << shift);
    atomicAdd(in.d_bins + value, kCarry);
  };
  const std::size_t packs = in.n / kValuesPerPack, round = std::size_t{kPacks} * kHistogramBlock;
  for (std::size_t first = blockIdx.x * round; first < packs; first += gridDim.x * round) {
    uint4 pack[kPacks];
    for (unsigned k = 0; k < kPacks; ++k) {
      const std::size_t i = first + k * kHistogramBlock + threadIdx.x;
      if (i < packs) pack[k] = load_values(in, i);
    }
    __syncthreads();  // all counters are 0, and every carry of the round before is done
    for (unsigned k = 0; k < kPacks; ++k) {
      if (first + k * kHistogramBlock + threadIdx.x < packs) each_value(pack[k], count);
    }
  }
  __syncthreads();  // also in a block without values: all counters are 0
  const std::size_t rest = packs * kValuesPerPack + threadIdx.x;
  if (blockIdx.x == 0 && rest < in.n) count(in.d_values[rest]);
  __syncthreads();  // all values are counted
  for (unsigned bin = threadIdx.x; bin < in.bins; bin += blockDim.x) {
    const unsigned counted = s_pairs[bin / 2] >> (bin % 2 * 16) & 0xFFFF;
    if (counted != 0) atomicAdd(in.d_bins + bin, counted);
  }
}

/// Blocks that stay for the whole launch: one per SM, an even number, and no more than there are packs for.
inline unsigned histogram_blocks(std::size_t n) {
  const std::size_t needed = n / kValuesPerPack / kHistogramBlock + 2;
  return static_cast<unsigned>(std::min<std::size_t>(needed, course::sm_count()) / 2 * 2);
}

/// Counts with blocks that have so many bytes of shared memory, in clusters of so many blocks.
template <class Kernel>
course::Grid histogram_grid(Kernel* kernel, const Counting& in, std::size_t shared,
                            unsigned cluster = 1) {
  course::set_zero(in.d_bins, in.bins);
  course::raise_shared_limit(kernel, shared);
  return {.blocks = histogram_blocks(in.n),
          .threads = kHistogramBlock,
          .shared_bytes = shared,
          .cluster = cluster};
}

/// d_bins[b] = how often b is among the values.
inline void launch_histogram_global(const Counting& in) {
  course::Grid grid = histogram_grid(histogram_global, in, 0);
  grid.blocks.x *= 2;  // no shared memory: two blocks per SM
  course::launch(histogram_global, grid, in);
}

/// The same; bins / 2 counters per block.
inline void launch_histogram_passes(const Counting& in) {
  const std::size_t shared = in.bins / 2 * sizeof(unsigned);
  course::launch(histogram_passes, histogram_grid(histogram_passes, in, shared), in);
}

/// The same; bins / 2 counters per block of a cluster of two.
inline void launch_histogram_cluster(const Counting& in) {
  const std::size_t shared = in.bins / 2 * sizeof(unsigned);
  course::launch(histogram_cluster, histogram_grid(histogram_cluster, in, shared, 2), in);
}

/// The same with histogram_cluster_red.
inline void launch_histogram_cluster_red(const Counting& in) {
  const std::size_t shared = in.bins / 2 * sizeof(unsigned);
  course::launch(histogram_cluster_red, histogram_grid(histogram_cluster_red, in, shared, 2), in);
}

/// The same, and room for two rounds of packs.
inline void launch_histogram_exchange(const Counting& in) {
  const std::size_t shared = in.bins / 2 * sizeof(unsigned) + 2 * kHistogramBlock * sizeof(uint4);
  course::launch(histogram_exchange, histogram_grid(histogram_exchange, in, shared, 2), in);
}

/// The same; bins counters of 16 bits per block.
inline void launch_histogram_halves(const Counting& in) {
  const std::size_t shared = in.bins / 2 * sizeof(unsigned);
  course::launch(histogram_halves, histogram_grid(histogram_halves, in, shared), in);
}
