// Run-length encoding: which keys come one after the other, and how often each?
// Rung: encode_runs.
#pragma once

#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>
#include <cstddef>
#include <vector>

#include "one_pass.cuh"
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

/// The best of several on an H200.
using RunShape = Shape<256, 6, 3>;

// Question: where does a run go, and how long is it?
// Changes:  a scan of pairs: how many runs begin up to here, and where the last one does. An element that begins
//           run r knows from what is before it where run r - 1 begins: it writes its own key, and that length.
// Cost:     one pass. The stores of a warp go to as many neighbouring words as runs begin in it.
template <class Way, class ShapeT>
__global__ void __launch_bounds__(ShapeT::kThreads, ShapeT::kBlocks)
    encode_runs(Arrays<unsigned> in, RunArrays out, unsigned tiles,
                course::TileStates<Runs> states) {
  __shared__ Runs s_totals[ShapeT::kWarps];
  __shared__ Runs s_base;
  __shared__ unsigned s_tile;
  const AddRuns op;
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  if (threadIdx.x == 0) s_tile = atomicInc(states.d_ticket, gridDim.x - 1);
  __syncthreads();  // the block has a tile
  const unsigned tile = s_tile;
  Pack<unsigned> x[ShapeT::kLoads];
  load_tile<ShapeT>(in, tile, 0u, x);
  // Bit j of begins[k]: element j of pack k begins a run; before[k]: the runs of the warp before pack k.
  const std::size_t first = tile * std::size_t{ShapeT::kPacks} + first_pack<ShapeT>();
  unsigned begins[ShapeT::kLoads];
  Runs before[ShapeT::kLoads], warp_runs = {0, 0};
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    const std::size_t at = 4 * (first + k * course::kWarpSize);  // from `lead` elements before x
    unsigned lower = __shfl_up_sync(course::kAllLanes, x[k].elem[3], 1);
    if (lane == 0 && at > in.lead && at < in.lead + in.n) lower = in.d_x[at - in.lead - 1];
    begins[k] = 0;
    unsigned last = 0;
    for (unsigned j = 0; j < 4; ++j) {
      const bool inside = at + j >= in.lead && at + j < in.lead + in.n;
      const bool is_first = at + j == in.lead || x[k].elem[j] != lower;
      if (inside && is_first) {
        begins[k] |= 1u << j;
        last = static_cast<unsigned>(at + j - in.lead);
      }
      lower = x[k].elem[j];
    }
    const Runs mine = {static_cast<unsigned>(__popc(begins[k])), last};
    const Runs lanes = course::warp_scan_any(mine, op);
    const Runs lanes_before = course::shuffle_up(lanes, 1);
    before[k] = lane == 0 ? warp_runs : op(warp_runs, lanes_before);
    warp_runs = op(warp_runs, course::shuffle(lanes, course::kWarpSize - 1));
  }
  if (lane == 0) s_totals[warp] = warp_runs;
  __syncthreads();  // all warps have left their runs
  const Warps<Runs> warps = scan_warps(s_totals, ShapeT::kWarps, warp, op);
  if (warp == 0) {
    if (lane == 0) Way::tell(states, tile, warps.total, op);
    const Runs base = Way::look_back(states, tile, warps.total, op);
    if (lane == 0) s_base = base;
  }
  __syncthreads();  // the tile's base is known
  const Runs base = op(s_base, warps.before);
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    const std::size_t at = 4 * (first + k * course::kWarpSize);
    Runs runs = op(base, before[k]);
    for (unsigned j = 0; j < 4; ++j) {
      if ((begins[k] >> j & 1) == 0) continue;
      const auto i = static_cast<unsigned>(at + j - in.lead);
      out.d_keys[runs.count] = x[k].elem[j];
      if (runs.count > 0) out.d_lengths[runs.count - 1] = i - runs.last;
      runs = {runs.count + 1, i};
    }
  }
  if (tile == tiles - 1 && threadIdx.x == 0) {  // it is in warp 0: its `warps.total` is the tile's
    const Runs all = op(s_base, warps.total);
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
