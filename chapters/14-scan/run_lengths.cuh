// Run-length encoding: which keys come one after the other, and how often each?
// Rung: encode_runs.
#pragma once

#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "one_pass.cuh"
#include "segments.cuh"
#include "tile.cuh"

/// How many runs begin among some elements, and where the last one of them begins. 8 bytes.
struct Runs {
  unsigned count, last;
};
struct AddRuns {
  __host__ __device__ Runs operator()(const Runs& a, const Runs& b) const {
    return {a.count + b.count, b.count != 0 ? b.last : a.last};
  }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return {0, 0};
  }
};

/// Rung 0.
struct Encoded {
  std::vector<unsigned> keys, lengths;
};
inline Encoded encode_reference(const std::vector<unsigned>& x) {
  Encoded runs;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i == 0 || x[i] != x[i - 1]) {
      runs.keys.push_back(x[i]);
      runs.lengths.push_back(0);
    }
    ++runs.lengths.back();
  }
  return runs;
}

/// Where the answer goes: room for n runs, and their number.
struct RunArrays {
  unsigned *d_keys, *d_lengths, *d_count;
};

/// Which elements of this lane's packs begin a run, and how many of the warp's do so before pack k.
template <unsigned loads>
struct RunRanks {
  unsigned begins[loads], before[loads];
};

/// Ranks the runs that begin in the warp's packs of a tile. Returns how many there are, and where the last one begins,
/// counted from x.
template <class ShapeT>
__device__ __forceinline__ Runs rank_runs(const Arrays<unsigned>& in, std::size_t tile,
                                          const Pack<unsigned> (&x)[ShapeT::kLoads],
                                          RunRanks<ShapeT::kLoads>& ranks) {
  constexpr unsigned kLoads = ShapeT::kLoads, kTogether = 4;
  const std::size_t first = 4 * (tile * ShapeT::kPacks + first_pack<ShapeT>());
  const bool is_whole = tile > 0 && is_inner<ShapeT>(in, tile);
  unsigned above = load_above<ShapeT>(in, tile, in.d_x);
  unsigned last = 0;
  for (unsigned k = 0; k < kLoads; ++k) {
    const std::size_t at = first + 4 * k * course::kWarpSize;  // from `lead` elements before x
    unsigned bits = ByKey<unsigned>::begins(x[k], lower_neighbor(x[k].elem[3], above));
    for (unsigned j = 0; j < 4 && !is_whole; ++j) {
      if (at + j == in.lead) bits |= 1u << j;  // the array's first element
      if (at + j < in.lead || at + j >= in.lead + in.n) bits &= ~(1u << j);
    }
    ranks.begins[k] = bits;
    if (bits != 0) {
      last = static_cast<unsigned>(at - in.lead) + 31 -
             static_cast<unsigned>(__clz(static_cast<int>(bits)));
    }
  }
  // A pack of each lane has at most 128 begins together: the counts of four packs are scanned at once, a byte for each.
  unsigned count = 0;
  for (unsigned k = 0; k < kLoads; k += kTogether) {
    unsigned own = 0;
    for (unsigned b = 0; b < kTogether && k + b < kLoads; ++b) {
      own |= static_cast<unsigned>(__popc(ranks.begins[k + b])) << 8 * b;
    }
    const unsigned upto = course::warp_inclusive_scan(own, course::Sum{});
    const unsigned all = __shfl_sync(course::kAllLanes, upto, course::kWarpSize - 1);
    for (unsigned b = 0; b < kTogether && k + b < kLoads; ++b) {
      ranks.before[k + b] = count + ((upto - own) >> 8 * b & 255);
      count += all >> 8 * b & 255;
    }
  }
  return {count, course::warp_reduce(last, course::Max{})};
}

/// The best of several on an H200.
using RunShape = Shape<256, 6, 5>;

// Question: where does a run go, and how long is it?
// Changes:  a scan of pairs: how many runs begin up to here, and where the last one does. The block puts its tile's runs
//           side by side in shared memory: then neighbouring threads write neighbouring runs, and a run's length is the
//           distance to the next one. The last length of a tile is written by the tile in which the next run begins.
// Cost:     one pass. The counts of four packs take one prefix sum of the warp.
template <class Way, class ShapeT>
__global__ void __launch_bounds__(ShapeT::kThreads, ShapeT::kBlocks)
    encode_runs(Arrays<unsigned> in, RunArrays out, unsigned tiles,
                course::TileStates<Runs> states) {
  constexpr unsigned kItems = ShapeT::kPacks * kPack<unsigned>;
  __shared__ unsigned s_key[kItems];
  __shared__ std::uint16_t s_begin[kItems];  // counted from the tile's first element
  __shared__ Runs s_totals[ShapeT::kWarps];
  __shared__ Runs s_base;
  __shared__ unsigned s_tile;
  static_assert(kItems <= 1u << 16);
  const AddRuns op;
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  if (threadIdx.x == 0) s_tile = atomicInc(states.d_ticket, gridDim.x - 1);
  __syncthreads();  // the block has a tile
  const unsigned tile = s_tile;
  Pack<unsigned> x[ShapeT::kLoads];
  RunRanks<ShapeT::kLoads> ranks;
  load_tile<ShapeT>(in, tile, 0u, x);
  const Runs warp_runs = rank_runs<ShapeT>(in, tile, x, ranks);
  if (lane == 0) s_totals[warp] = warp_runs;
  __syncthreads();  // all warps have left their runs
  const Warps<Runs> warps = scan_warps(s_totals, ShapeT::kWarps, warp, op);
  if (threadIdx.x == 0) Way::tell(states, tile, warps.total, op);
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    unsigned run = warps.before.count + ranks.before[k];
    for (unsigned j = 0; j < 4; ++j) {
      if ((ranks.begins[k] >> j & 1) == 0) continue;
      s_key[run] = x[k].elem[j];
      s_begin[run] =
          static_cast<std::uint16_t>(4 * (first_pack<ShapeT>() + k * course::kWarpSize) + j);
      ++run;
    }
  }
  if (warp == 0) {
    const Runs base = Way::look_back(states, tile, warps.total, op);
    if (lane == 0) s_base = base;
  }
  __syncthreads();  // the tile's runs are side by side, and its base is known
  const Runs base = s_base;
  const unsigned first = tile * kItems - in.lead;  // of the tile, counted from x
  for (unsigned i = threadIdx.x; i < warps.total.count; i += ShapeT::kThreads) {
    const unsigned run = base.count + i, begin = first + s_begin[i];
    out.d_keys[run] = s_key[i];
    if (run > 0) out.d_lengths[run - 1] = begin - (i > 0 ? first + s_begin[i - 1] : base.last);
  }
  if (tile == tiles - 1 && threadIdx.x == 0) {
    const Runs all = op(base, warps.total);
    out.d_lengths[all.count - 1] = static_cast<unsigned>(in.n) - all.last;
    *out.d_count = all.count;
  }
}

/// Writes the key and the length of each run of equal keys among x[0..n-1], n < 2^32, and how many there are.
/// d_x is aligned to its elements, no more.
template <class Way = InGroups<kPerLane>, class ShapeT = RunShape>
void launch_encode_runs(const unsigned* d_x, std::size_t n, RunArrays out,
                        course::LookBackMemory<Runs>& memory, cudaStream_t stream = nullptr) {
  if (n == 0) {
    CUDA_CHECK(cudaMemsetAsync(out.d_count, 0, sizeof *out.d_count, stream));
    return;
  }
  const Arrays<unsigned> in = split_arrays<unsigned>(d_x, n, nullptr);
  const unsigned tiles = tiles_of<ShapeT>(in);
  course::launch(encode_runs<Way, ShapeT>, {tiles, ShapeT::kThreads, 0, stream}, in, out, tiles,
                 memory.next(tiles, stream));
}
