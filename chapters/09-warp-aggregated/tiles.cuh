// A warp's worth of numbers for each atomic is not enough: how many can one atomic serve?
// Rungs: filter_block_scan, filter_tile_direct, filter_tile_staged (the fastest, in any order).
#pragma once

#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstdint>

#include "filter.cuh"
#include "grid.cuh"

// Question: can a block reserve indices for all of its numbers without atomics in shared memory?
// Changes:  a prefix sum (chapter 05) tells each thread how many are kept before it.
// Cost:     one global atomic per block; 13 shuffles and three barriers. A block keeps its order.
__global__ void filter_block_scan(const int* d_x, std::size_t n, int* d_out, Count* d_count) {
  __shared__ Count s_base;
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const int x = i < n ? d_x[i] : kNotKept;
  const auto [before, total] = course::block_exclusive_scan(is_kept(x) ? 1u : 0u, course::Sum{});
  if (threadIdx.x == 0 && total > 0) s_base = atomicAdd(d_count, Count{total});
  __syncthreads();  // the block's indices begin at s_base
  if (is_kept(x)) d_out[s_base + before] = x;
}

// ---- a tile: several packs of each thread -------------------------------------------------------

constexpr unsigned kWarps = kBlockSize / course::kWarpSize;
constexpr unsigned kPack = 4;  // ints in 16 bytes
using Pack = course::Pack<int, kPack>;

/// The best of several on an H200: 6 packs per thread, 6144 numbers per tile.
constexpr unsigned kTileLoads = 6;
/// Blocks that share an SM: the compiler has to do with 40 registers per thread.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr unsigned kTileBlocks = 4;  // sm_75 has 1024 threads
#else
constexpr unsigned kTileBlocks = 6;
#endif

template <unsigned loads>
inline constexpr unsigned kTilePacks = loads* kBlockSize;
template <unsigned loads>
inline constexpr unsigned kTileItems = kPack* kTilePacks<loads>;

/// An array cut into packs at multiples of 16 bytes: pack p has x[4p - lead], ..., x[4p - lead +
/// 3]. `lead` elements of the first pack, and some of the last one, may be outside of the array.
struct Packs {
  const int* d_x;
  std::size_t n;
  unsigned lead;      // 0 to 3
  std::size_t count;  // of packs
};

/// d_x is aligned to its elements, no more.
inline Packs split_packs(const int* d_x, std::size_t n) {
  const auto lead = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(d_x) %
                                          course::kWidestAccess / sizeof(int));
  return {d_x, n, lead, (lead + n + kPack - 1) / kPack};
}

/// A pack of which some elements may be outside of the array: these become kNotKept.
__device__ __forceinline__ Pack load_edge(const Packs& packs, std::size_t p) {
  const std::size_t at = kPack * p;  // counted from `lead` elements before the array
  const std::size_t end = packs.lead + packs.n;
  if (at >= packs.lead && at + kPack <= end) {
    return course::load_pack_once<kPack>(packs.d_x + (at - packs.lead));
  }
  Pack pack;
  for (unsigned k = 0; k < kPack; ++k) {
    const bool inside = at + k >= packs.lead && at + k < end;
    pack.elem[k] = inside ? packs.d_x[at + k - packs.lead] : kNotKept;
  }
  return pack;
}

/// True if all elements of a tile are in the array. Not for the first tile, which may have a lead.
template <unsigned loads>
__device__ __forceinline__ bool is_inner(const Packs& packs, std::size_t tile) {
  return tile > 0 && (tile + 1) * kTilePacks<loads> < packs.count;
}

/// The first pack of this thread: a warp has loads * 32 packs of the tile in a row, of which lane l
/// takes l, l + 32, ...: neighbouring lanes load neighbouring packs.
template <unsigned loads>
__device__ __forceinline__ std::size_t first_pack(std::size_t tile) {
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  return tile * kTilePacks<loads> + warp * loads * course::kWarpSize + lane;
}

/// A pack of an inner tile.
__device__ __forceinline__ Pack load_inner(const Packs& packs, std::size_t p) {
  return course::load_pack_once<kPack>(packs.d_x + (kPack * p - packs.lead));
}

/// This thread's packs of a tile: all loads are on their way at once.
template <unsigned loads>
__device__ __forceinline__ void load_tile(const Packs& packs, std::size_t tile, Pack (&x)[loads]) {
  const std::size_t first = first_pack<loads>(tile);
  if (is_inner<loads>(packs, tile)) {
    for (unsigned k = 0; k < loads; ++k) x[k] = load_inner(packs, first + course::kWarpSize * k);
  } else {
    for (unsigned k = 0; k < loads; ++k) x[k] = load_edge(packs, first + course::kWarpSize * k);
  }
}

/// What a warp knows of the block's kept numbers.
struct BlockKept {
  unsigned before;  // those of the warps before this one
  unsigned total;   // all
};

/// Sums the warps' counts. One thread calls `use(total)` as soon as it is known; at the same time all
/// lanes of the last warp call `meanwhile()`. What they write to shared memory is seen by all
/// afterwards. All threads call it. Two barriers.
template <class Use, class Meanwhile>
__device__ __forceinline__ BlockKept scan_warps(unsigned warp_kept, Use use, Meanwhile meanwhile) {
  __shared__ unsigned s_before[kWarps + 1];
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  if (lane == 0) s_before[warp] = warp_kept;
  __syncthreads();  // all warps have left their counts
  if (warp == 0) {
    const unsigned mine = lane < kWarps ? s_before[lane] : 0;
    const unsigned inclusive = course::warp_inclusive_scan(mine, course::Sum{});
    if (lane < kWarps) s_before[lane] = inclusive - mine;
    if (lane == kWarps) {
      s_before[kWarps] = inclusive;
      use(inclusive);
    }
  }
  if (warp == kWarps - 1) meanwhile();
  __syncthreads();  // s_before is a prefix sum now, and the total has been used
  return {s_before[warp], s_before[kWarps]};
}
template <class Use>
__device__ __forceinline__ BlockKept scan_warps(unsigned warp_kept, Use use) {
  return scan_warps(warp_kept, use, [] {});
}

/// What the lanes keep of the warp's packs: a vote per element of a pack. Returns the warp's count.
template <unsigned loads>
__device__ __forceinline__ unsigned vote(const Pack (&x)[loads], unsigned (&votes)[loads][kPack]) {
  unsigned kept = 0;
  for (unsigned k = 0; k < loads; ++k) {
    for (unsigned j = 0; j < kPack; ++j) {
      votes[k][j] = __ballot_sync(course::kAllLanes, is_kept(x[k].elem[j]));
      kept += static_cast<unsigned>(__popc(votes[k][j]));
    }
  }
  return kept;
}

/// Writes the warp's kept numbers to `to` and what follows. For each vote the lanes that keep write
/// to neighbouring words: one request to memory, and no bank conflict in shared memory.
template <unsigned loads>
__device__ __forceinline__ void write_kept(const Pack (&x)[loads],
                                           const unsigned (&votes)[loads][kPack], int* to) {
  const unsigned lower = course::lanemask_lt();
  for (unsigned k = 0; k < loads; ++k) {
    for (unsigned j = 0; j < kPack; ++j) {
      if (is_kept(x[k].elem[j])) to[__popc(votes[k][j] & lower)] = x[k].elem[j];
      to += __popc(votes[k][j]);
    }
  }
}

// Question: can one atomic serve thousands of numbers?
// Changes:  a thread has several packs of 16 bytes; votes rank them; one atomic per tile.
// Cost:     one atomic per 6144 numbers. Stores of 4 bytes per lane, at any alignment.
template <unsigned loads>
__global__ void __launch_bounds__(kBlockSize, kTileBlocks)
    filter_tile_direct(Packs packs, int* d_out, Count* d_count) {
  __shared__ Count s_base;
  Pack x[loads];
  load_tile(packs, blockIdx.x, x);
  unsigned votes[loads][kPack];
  const BlockKept kept = scan_warps(vote(x, votes), [&](unsigned total) {
    s_base = total > 0 ? atomicAdd(d_count, Count{total}) : 0;
  });
  write_kept(x, votes, d_out + s_base + kept.before);
}

/// The number of blocks is chosen here. d_x is aligned to its elements, no more.
template <unsigned loads = kTileLoads>
void launch_filter_tile_direct(course::Grid grid, const int* d_x, std::size_t n, int* d_out,
                               Count* d_count) {
  const Packs packs = split_packs(d_x, n);
  grid.blocks = n == 0 ? 0 : course::blocks_for(packs.count, kTilePacks<loads>);
  course::launch(filter_tile_direct<loads>, grid, packs, d_out, d_count);
}

/// Writes s_staged[shift..shift+count-1] to d_to[0..count-1], in packs of 16 bytes where they are
/// whole. `shift` is how far d_to lies after a multiple of 16 bytes, so that packs here are packs
/// there. All threads of the block call it.
__device__ __forceinline__ void store_staged(const int* s_staged, unsigned shift, unsigned count,
                                             int* d_to) {
  const unsigned end = shift + count;
  for (unsigned i = kPack * threadIdx.x; i < end; i += kPack * kBlockSize) {
    if (i >= shift && i + kPack <= end) {
      course::store_pack_once(d_to + (i - shift), course::load_pack<kPack>(s_staged + i));
    } else {
      for (unsigned j = i; j < i + kPack; ++j) {
        if (j >= shift && j < end) d_to[j - shift] = s_staged[j];
      }
    }
  }
}

// Question: can what is kept leave in packs of 16 bytes, too?
// Changes:  the tile is gathered in shared memory first, with the alignment that it has in d_out.
// Cost:     24 KiB of shared memory per block, one barrier more; a quarter of the stores.
template <unsigned loads>
__global__ void __launch_bounds__(kBlockSize, kTileBlocks)
    filter_tile_staged(Packs packs, int* d_out, Count* d_count) {
  __shared__ __align__(16) int s_staged[kTileItems<loads> + kPack];
  __shared__ Count s_base;
  Pack x[loads];
  load_tile(packs, blockIdx.x, x);
  unsigned votes[loads][kPack];
  const BlockKept kept = scan_warps(vote(x, votes), [&](unsigned total) {
    s_base = total > 0 ? atomicAdd(d_count, Count{total}) : 0;
  });
  int* const d_to = d_out + s_base;
  const auto shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(d_to) %
                                           course::kWidestAccess / sizeof(int));
  write_kept(x, votes, s_staged + shift + kept.before);
  __syncthreads();  // the tile is gathered
  store_staged(s_staged, shift, kept.total, d_to);
}

/// The number of blocks is chosen here. d_x and d_out are aligned to their elements, no more.
template <unsigned loads = kTileLoads>
void launch_filter_tile_staged(course::Grid grid, const int* d_x, std::size_t n, int* d_out,
                               Count* d_count) {
  const Packs packs = split_packs(d_x, n);
  grid.blocks = n == 0 ? 0 : course::blocks_for(packs.count, kTilePacks<loads>);
  course::launch(filter_tile_staged<loads>, grid, packs, d_out, d_count);
}
