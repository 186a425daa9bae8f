// A filter that keeps the order: a tile's base is what all tiles before it keep. How does it know?
// Rungs: filter_two_passes (count, sum, write), filter_look_back (one pass: tiles tell each
// other while they run). pipelined.cuh has the fastest one.
//
// Both set *d_count, and write from d_out[0] on: no atomic reserves indices.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>
#include <cuda/atomic>

#include "filter.cuh"
#include "grid.cuh"
#include "tiles.cuh"

/// 8 packs per thread, 8192 numbers per tile.
constexpr unsigned kOrderedLoads = 8;
/// Blocks that share an SM: while some wait, others load. They leave 48 registers per thread.
constexpr unsigned kOrderedBlocks = 5;

// ---- a tile in order ----------------------------------------------------------------------------

/// Where each of a lane's packs begins among what its warp keeps. A warp's pack k of lane l comes
/// before pack k of lane l + 1, and all packs k before all packs k + 1.
template <unsigned loads>
struct PackRanks {
  static_assert(loads % 4 == 0, "four bytes are four packs");
  unsigned lower[loads / 4];  // byte k: what the lanes before this one keep of pack k
  unsigned warp[loads / 4];   // byte k: what the warp keeps of pack k, 128 at most
  __device__ static unsigned byte(const unsigned (&bytes)[loads / 4], unsigned k) {
    return bytes[k / 4] >> 8 * (k % 4) & 0xff;
  }
};

/// Sets the ranks of the lane's packs, and returns what the warp keeps in all. A prefix sum for four
/// packs at once: they count up to 4 * 32 = 128, which a byte holds.
template <unsigned loads>
__device__ __forceinline__ unsigned scan_packs(const Pack (&x)[loads], PackRanks<loads>& ranks) {
  unsigned kept = 0;
  for (unsigned k = 0; k < loads; k += 4) {
    unsigned counts = 0;
    for (unsigned b = 0; b < 4; ++b) {
      for (unsigned j = 0; j < kPack; ++j) counts += is_kept(x[k + b].elem[j]) ? 1u << 8 * b : 0u;
    }
    const unsigned inclusive = course::warp_inclusive_scan(counts, course::Sum{});
    ranks.lower[k / 4] = inclusive - counts;
    ranks.warp[k / 4] = __shfl_sync(course::kAllLanes, inclusive, course::kWarpSize - 1);
    for (unsigned b = 0; b < 4; ++b) kept += ranks.byte(ranks.warp, k + b);
  }
  return kept;
}

/// Writes the warp's kept numbers to s_to and what follows, in order. Calls then(k) when pack k has
/// been written.
template <unsigned loads, class Then>
__device__ __forceinline__ void stage_in_order(const Pack (&x)[loads],
                                               const PackRanks<loads>& ranks, int* s_to,
                                               Then then) {
  for (unsigned k = 0; k < loads; ++k) {
    unsigned before = ranks.byte(ranks.lower, k);
    for (unsigned j = 0; j < kPack; ++j) {
      if (is_kept(x[k].elem[j])) s_to[before] = x[k].elem[j];
      before += is_kept(x[k].elem[j]) ? 1 : 0;
    }
    s_to += ranks.byte(ranks.warp, k);
    then(k);
  }
}
template <unsigned loads>
__device__ __forceinline__ void stage_in_order(const Pack (&x)[loads],
                                               const PackRanks<loads>& ranks, int* s_to) {
  stage_in_order(x, ranks, s_to, [](unsigned) {});
}

/// s_from[0..3], from shared memory. If 32 lanes read the same word of neighbouring packs at once, they
/// use 8 banks, four times each. So lanes 0 to 7 begin with word 0, lanes 8 to 15 with word 1, and so
/// on. Selects put the words back into order, because a register cannot be indexed.
__device__ __forceinline__ Pack load_in_turns(const int* s_from) {
  static_assert(kPack == 4);
  const unsigned turn = threadIdx.x % course::kWarpSize / 8;
  int read[kPack];  // word j + turn
  for (unsigned j = 0; j < kPack; ++j) read[j] = s_from[(j + turn) % kPack];
  const bool by_one = turn & 1, by_two = turn & 2;
  const int even[kPack] = {by_one ? read[3] : read[0], by_one ? read[0] : read[1],
                           by_one ? read[1] : read[2], by_one ? read[2] : read[3]};
  Pack pack;
  for (unsigned j = 0; j < kPack; ++j) pack.elem[j] = by_two ? even[(j + 2) % kPack] : even[j];
  return pack;
}

/// d_to[0..count-1] = s_staged[0..count-1]: up to 3 numbers before the first multiple of 16 bytes,
/// packs, and up to 3 after. `threads` threads call it, each with its number, from 0 on.
__device__ __forceinline__ void store_by(unsigned thread, unsigned threads, const int* s_staged,
                                         unsigned count, int* d_to) {
  const auto head =
      static_cast<unsigned>(course::head_before_packs(d_to, count, course::kWidestAccess));
  const unsigned packs = (count - head) / kPack, tail = head + kPack * packs;
  if (thread < head) d_to[thread] = s_staged[thread];
  if (thread < count - tail) d_to[tail + thread] = s_staged[tail + thread];
  for (unsigned i = thread; i < packs; i += threads) {
    const Pack pack = load_in_turns(s_staged + head + kPack * i);
    course::store_pack_once(d_to + head + kPack * i, pack);
  }
}
/// All threads of the block call it.
__device__ __forceinline__ void store_in_order(const int* s_staged, unsigned count, int* d_to) {
  store_by(threadIdx.x, kBlockSize, s_staged, count, d_to);
}
/// All lanes of a warp call it.
__device__ __forceinline__ void store_part(const int* s_part, unsigned count, int* d_to) {
  store_by(threadIdx.x % course::kWarpSize, course::kWarpSize, s_part, count, d_to);
}

// ---- two passes ---------------------------------------------------------------------------------

// Question: how many kept numbers come before a tile?
// Changes:  a first kernel only counts; no base is needed yet.
// Cost:     it reads everything, and writes 8 bytes per tile.
template <unsigned loads>
__global__ void __launch_bounds__(kBlockSize) count_tiles(Packs packs, Count* d_kept) {
  Pack x[loads];
  load_tile(packs, blockIdx.x, x);
  unsigned kept = 0;
  for (unsigned k = 0; k < loads; ++k) {
    for (unsigned j = 0; j < kPack; ++j) kept += is_kept(x[k].elem[j]) ? 1 : 0;
  }
  const unsigned total = course::block_reduce(kept, course::Sum{});
  if (threadIdx.x == 0) d_kept[blockIdx.x] = total;
}

/// Replaces each tile's count by the sum of those before it, and sets *d_count to the sum of all.
/// One block; it takes as many tiles at a time as it has threads.
__global__ void scan_tiles(Count* d_kept, unsigned tiles, Count* d_count) {
  Count before = 0;
  for (unsigned first = 0; first < tiles; first += blockDim.x) {
    const unsigned tile = first + threadIdx.x;
    const auto scan = course::block_exclusive_scan(tile < tiles ? d_kept[tile] : 0, course::Sum{});
    if (tile < tiles) d_kept[tile] = before + scan.before;
    before += scan.total;
  }
  if (threadIdx.x == 0) *d_count = before;
}

/// Reads the tile again, now that its base is known.
template <unsigned loads>
__global__ void __launch_bounds__(kBlockSize, kOrderedBlocks)
    write_tiles(Packs packs, const Count* d_before, int* d_out) {
  __shared__ int s_staged[kTileItems<loads>];
  Pack x[loads];
  load_tile(packs, blockIdx.x, x);
  PackRanks<loads> ranks;
  const BlockKept kept = scan_warps(scan_packs(x, ranks), [](unsigned) {});
  stage_in_order(x, ranks, s_staged + kept.before);
  __syncthreads();  // the tile is gathered
  store_in_order(s_staged, kept.total, d_out + d_before[blockIdx.x]);
}

/// Memory for the counts of the tiles; grows. Launches that share it come one after another.
using TileCounts = course::DeviceBuffer<Count>;

/// Writes the positive numbers of x[0..n-1] to d_out, in their order, and sets *d_count to their
/// number. d_x and d_out are aligned to their elements, no more.
template <unsigned loads = kOrderedLoads>
void filter_two_passes(const int* d_x, std::size_t n, int* d_out, Count* d_count,
                       TileCounts& counts, cudaStream_t stream) {
  if (n == 0) {
    CUDA_CHECK(cudaMemsetAsync(d_count, 0, sizeof *d_count, stream));
    return;
  }
  const Packs packs = split_packs(d_x, n);
  const unsigned tiles = course::blocks_for(packs.count, kTilePacks<loads>);
  if (counts.size() < tiles) counts = TileCounts(tiles);
  course::launch(count_tiles<loads>, {tiles, kBlockSize, 0, stream}, packs, counts.data());
  course::launch(scan_tiles, {1, 1024, 0, stream}, counts.data(), tiles, d_count);
  course::launch(write_tiles<loads>, {tiles, kBlockSize, 0, stream}, packs, counts.data(), d_out);
}

// ---- one pass: decoupled look-back --------------------------------------------------------------

/// What a tile tells those after it, in one word that is written and read as a whole, so that
/// nothing else has to be ordered: the launch's stamp (another one: the tile has not told yet),
/// a bit that says what the number is, and the number.
struct TileState {
  static constexpr unsigned kStampBits = 22, kNumberBits = 41;
  static constexpr Count kIsSum = Count{1} << kNumberBits;  // of all tiles up to this one;
                                                            // without it: of this tile alone
  __device__ static Count of(unsigned stamp, bool is_sum, Count number) {
    return Count{stamp} << (kNumberBits + 1) | (is_sum ? kIsSum : 0) | number;
  }
  __device__ static bool is_from(Count state, unsigned stamp) {
    return state >> (kNumberBits + 1) == stamp;
  }
  __device__ static bool is_sum(Count state) { return (state & kIsSum) != 0; }
  __device__ static Count number(Count state) { return state & (kIsSum - 1); }
};

/// The tiles' words, and the ticket that gives a block its tile.
struct TileStates {
  Count* d_states;
  unsigned* d_ticket;
  unsigned stamp;

  __device__ void tell(unsigned tile, bool is_sum, Count number) const {
    cuda::atomic_ref<Count, cuda::thread_scope_device>(d_states[tile])
        .store(TileState::of(stamp, is_sum, number), cuda::memory_order_relaxed);
  }
  __device__ Count look_at(unsigned tile) const {
    return cuda::atomic_ref<Count, cuda::thread_scope_device>(d_states[tile])
        .load(cuda::memory_order_relaxed);
  }
};

/// How many all tiles before this one keep. One warp calls it. Its lanes look at the 32 tiles
/// before this one; if none of those knows the sum up to itself, at the 32 before them, and so on.
__device__ __forceinline__ Count look_back(const TileStates& states, unsigned tile) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  Count before = 0;
  for (unsigned end = tile;; end -= course::kWarpSize) {
    Count state;
    unsigned missing, sums;
    do {  // until no word is missing between here and the next sum
      const Count nothing = TileState::of(states.stamp, true, 0);  // before the first tile
      state = lane < end ? states.look_at(end - 1 - lane) : nothing;
      const bool told = TileState::is_from(state, states.stamp);
      missing = __ballot_sync(course::kAllLanes, !told);
      sums = __ballot_sync(course::kAllLanes, told && TileState::is_sum(state));
    } while ((missing & (sums - 1)) != 0);                    // sums == 0: any of the 32
    const bool counts = (course::lanemask_lt() & sums) == 0;  // the lane of the sum, and before it
    before += course::warp_reduce(counts ? TileState::number(state) : 0, course::Sum{});
    if (sums != 0) return before;
  }
}

/// Writes the base of a tile that keeps `kept` numbers to *s_base, and publishes the sum up to this
/// tile, which for the last one is the count of all. One warp calls it.
__device__ __forceinline__ void settle(const TileStates& states, unsigned tile, unsigned tiles,
                                       unsigned kept, Count* s_base, Count* d_count) {
  const Count base = look_back(states, tile);
  if (threadIdx.x % course::kWarpSize != 0) return;
  *s_base = base;
  if (tile > 0) states.tell(tile, true, base + kept);
  if (tile == tiles - 1) *d_count = base + kept;
}

// Question: can a tile learn its base without reading everything twice?
// Changes:  one kernel: a tile publishes its count, and reads those of the tiles before it.
// Cost:     one atomic per tile for the ticket; waiting, while others load. Sorting in shared memory
//           comes before the waiting, so that only the stores come after it.
template <unsigned loads>
__global__ void __launch_bounds__(kBlockSize, kOrderedBlocks)
    filter_look_back(Packs packs, int* d_out, Count* d_count, TileStates states) {
  __shared__ int s_staged[kTileItems<loads>];
  __shared__ unsigned s_tile;
  __shared__ Count s_base;
  // Not blockIdx.x: nothing promises that blocks start in their order, and a tile that waits for
  // one that has not started could wait for ever. atomicInc is back at 0 after the last tile.
  if (threadIdx.x == 0) s_tile = atomicInc(states.d_ticket, gridDim.x - 1);
  __syncthreads();  // the block has a tile
  const unsigned tile = s_tile;
  Pack x[loads];
  load_tile(packs, tile, x);
  PackRanks<loads> ranks;
  const BlockKept kept = scan_warps(scan_packs(x, ranks),
                                    [&](unsigned total) { states.tell(tile, tile == 0, total); });
  stage_in_order(x, ranks, s_staged + kept.before);
  if (threadIdx.x / course::kWarpSize == kWarps - 1) {  // one warp looks back
    settle(states, tile, gridDim.x, kept.total, &s_base, d_count);
  }
  __syncthreads();  // the tile is gathered, and its base is known
  store_in_order(s_staged, kept.total, d_out + s_base);
}

/// Memory for the tiles' words. They are never cleared between launches: each launch has a stamp of
/// its own. Launches that share it come one after another.
class LookBack {
 public:
  /// The words for the next launch, of so many tiles.
  TileStates next(unsigned tiles, cudaStream_t stream) {
    const bool used_up = stamp_ + 1 >= 1u << TileState::kStampBits;
    if (memory_.size() < tiles + 1 || used_up) {
      if (memory_.size() < tiles + 1) memory_ = course::DeviceBuffer<Count>(tiles + 1);
      CUDA_CHECK(cudaMemsetAsync(memory_.data(), 0, memory_.bytes(), stream));
      stamp_ = 0;  // of no launch
    }
    ++stamp_;
    return {memory_.data() + 1, reinterpret_cast<unsigned*>(memory_.data()), stamp_};
  }

  /// As if so many launches had been made: tests come to the last stamp with it.
  void skip_to(unsigned stamp) { stamp_ = stamp; }

 private:
  course::DeviceBuffer<Count> memory_;  // the ticket, then one word per tile
  unsigned stamp_ = 0;
};

/// As filter_two_passes().
template <unsigned loads = kOrderedLoads>
void launch_filter_look_back(const int* d_x, std::size_t n, int* d_out, Count* d_count,
                             LookBack& look_back, cudaStream_t stream) {
  if (n == 0) {
    CUDA_CHECK(cudaMemsetAsync(d_count, 0, sizeof *d_count, stream));
    return;
  }
  const Packs packs = split_packs(d_x, n);
  const unsigned tiles = course::blocks_for(packs.count, kTilePacks<loads>);
  const TileStates states = look_back.next(tiles, stream);
  course::launch(filter_look_back<loads>, {tiles, kBlockSize, 0, stream}, packs, d_out, d_count,
                 states);
}
