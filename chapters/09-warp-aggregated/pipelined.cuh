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
// Changes:  a block takes tile after tile. Each warp stages what it keeps in its own part of shared
//           memory, and loads the next tile at once. It counts that before it needs this one's base.
// Cost:     128 registers per thread instead of 48; as many tickets as tiles, and one more per block.
template <unsigned loads>
__global__ void __launch_bounds__(kBlockSize, kPipelinedBlocks)
    filter_pipelined(Packs packs, unsigned tiles, int* d_out, Count* d_count, TileStates states) {
  extern __shared__ int s_staged[];  // the tile that waits for its base, a part per warp
  __shared__ unsigned s_next;
  __shared__ Count s_base;
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  int* const s_part = s_staged + warp * (kTileItems<loads> / kWarps);
  const auto draw = [&] { return atomicInc(states.d_ticket, tiles + gridDim.x - 1); };
  if (threadIdx.x == 0) s_next = draw();
  __syncthreads();                                   // the block has a tile, or there are no more
  unsigned tile = s_next, waiting = tile, part = 0;  // none waits yet
  if (tile >= tiles) return;
  BlockKept block = {};
  Pack x[loads];
  load_tile(packs, tile, x);
  while (tile < tiles) {
    PackRanks<loads> ranks;
    const unsigned kept = scan_packs(x, ranks);
    const auto tell = [&](unsigned total) { states.tell(tile, tile == 0, total); };
    const BlockKept counted = scan_warps(kept, tell, [&] {  // the last warp, at the same time
      const unsigned drawn = lane == 0 ? draw() : 0;        // arrives while the warp looks back
      if (waiting != tile) settle(states, waiting, tiles, block.total, &s_base, d_count);
      if (lane == 0) s_next = drawn;
    });
    if (waiting != tile) store_part(s_part, part, d_out + s_base + block.before);
    __syncwarp();  // the part has been read: it may be overwritten
    const unsigned next = s_next;
    const bool inner = is_inner<loads>(packs, next);
    stage_in_order(x, ranks, s_part, [&](unsigned k) {
      if (inner) x[k] = load_inner(packs, first_pack<loads>(next) + course::kWarpSize * k);
    });
    if (!inner && next < tiles) load_tile(packs, next, x);
    waiting = tile, part = kept, block = counted, tile = next;
  }
  __syncthreads();  // the base of the tile before the last has been read
  if (warp == kWarps - 1) settle(states, waiting, tiles, block.total, &s_base, d_count);
  __syncthreads();  // the last tile's base is known
  store_part(s_part, part, d_out + s_base + block.before);
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
