// Can a block load while it waits?
// Rung: filter_pipelined (the fastest that keeps the order).
#pragma once

#include <algorithm>
#include <course/launch.cuh>
#include <cstddef>

#include "ordered.cuh"

/// 20 packs per thread, 20480 numbers per tile: 80 KiB of shared memory. The best of several on an
/// H200, and so is the number of blocks that share an SM: with 3 of them registers are spilled, and a
/// load whose register is spilled is waited for at once.
constexpr unsigned kPipelinedLoads = 20;
constexpr unsigned kPipelinedBlocks = 2;

// Question: can a block load the next tile while it waits for the base of this one?
// Changes:  a block takes tile after tile. The next tile is loaded as soon as this one is staged, and
//           counted before this one's base is asked for: by then the tiles before it have been counted.
// Cost:     twice the registers per thread; as many tickets as tiles, and one more per block.
template <unsigned loads>
__global__ void __launch_bounds__(kBlockSize, kPipelinedBlocks)
    filter_pipelined(Packs packs, unsigned tiles, int* d_out, Count* d_count, TileStates states) {
  extern __shared__ int s_staged[];  // the tile that waits for its base
  __shared__ unsigned s_first, s_next;
  __shared__ Count s_base;
  const auto draw = [&] { return atomicInc(states.d_ticket, tiles + gridDim.x - 1); };
  if (threadIdx.x == 0) s_first = draw();
  __syncthreads();  // the block has a tile, or there are no more
  unsigned tile = s_first, waiting = tile, kept_of_waiting = 0;  // none waits yet
  if (tile >= tiles) return;
  const auto find_base = [&] {  // the last warp
    if (waiting != tile) settle(states, waiting, tiles, kept_of_waiting, &s_base, d_count);
  };
  if (threadIdx.x == 0) s_next = draw();
  Pack x[loads];
  load_tile(packs, tile, x);
  while (tile < tiles) {
    unsigned before[loads];
    const auto tell = [&](unsigned total) { states.tell(tile, tile == 0, total); };
    const BlockKept kept = scan_warps(scan_packs(x, before), tell, find_base);
    if (waiting != tile) store_in_order(s_staged, kept_of_waiting, d_out + s_base);
    __syncthreads();  // the tile that waited has been read: it may be overwritten
    const unsigned next = s_next;
    const bool inner = is_inner<loads>(packs, next);
    for (unsigned k = 0; k < loads; ++k) {
      stage_pack(x[k], before[k], s_staged + kept.before);
      if (inner) x[k] = load_inner(packs, first_pack<loads>(next) + course::kWarpSize * k);
    }
    if (!inner && next < tiles) load_tile(packs, next, x);
    waiting = tile, kept_of_waiting = kept.total, tile = next;
    __syncthreads();  // the tile is gathered, and all know the next one
    if (threadIdx.x == 0 && next < tiles) s_next = draw();
  }
  if (threadIdx.x / course::kWarpSize == kWarps - 1) find_base();
  __syncthreads();  // the last tile's base is known
  store_in_order(s_staged, kept_of_waiting, d_out + s_base);
}

/// As filter_two_passes(). A GPU whose blocks have less shared memory gets smaller tiles.
template <unsigned loads = kPipelinedLoads>
void launch_filter_pipelined(const int* d_x, std::size_t n, int* d_out, Count* d_count,
                             LookBack& look_back, cudaStream_t stream) {
  if (n == 0) {
    CUDA_CHECK(cudaMemsetAsync(d_count, 0, sizeof *d_count, stream));
    return;
  }
  constexpr std::size_t shared = kTileItems<loads> * sizeof(int);
  if constexpr (loads > kOrderedLoads) {
    static const bool fits = course::allows_shared_bytes(shared + 1024);  // and its variables
    if (!fits) {
      return launch_filter_pipelined<kOrderedLoads>(d_x, n, d_out, d_count, look_back, stream);
    }
  }
  static const unsigned resident =
      course::resident_blocks(filter_pipelined<loads>, kBlockSize, shared);
  const Packs packs = split_packs(d_x, n);
  const unsigned tiles = course::blocks_for(packs.count, kTilePacks<loads>);
  const TileStates states = look_back.next(tiles, stream);
  course::launch(filter_pipelined<loads>, {std::min(tiles, resident), kBlockSize, shared, stream},
                 packs, tiles, d_out, d_count, states);
}
