// Sums that begin anew: at each flag, or wherever the key is another one than before. How much does a segment
// cost, if it may begin anywhere?
// Rungs: scan_by_flag, scan_by_key.
#pragma once

#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "one_pass.cuh"
#include "tile.cuh"

/// The sum of the last segment of some elements, and whether it begins among them. 8 bytes.
struct Segment {
  float sum;
  unsigned begins;  // 0 or 1
};

/// Segments one after the other: what begins in the second one does not count the first. It does not commute.
struct Join {
  __host__ __device__ Segment operator()(const Segment& a, const Segment& b) const {
    return {b.begins != 0 ? b.sum : a.sum + b.sum, a.begins | b.begins};
  }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return {0, 0};
  }
};

/// Four elements begin a segment where the bytes of a flag are not 0: bit j of the result is that of element
/// i + j. `whole` says that all of them are in the array and lie at a multiple of their size.
struct ByFlag {
  using Element = std::uint8_t;
  const Element* d_flags;
  __device__ unsigned begins(std::size_t i, unsigned count, bool whole) const {
    unsigned bits = 0;
    if (whole) {
      const auto flags = course::load_pack<4>(d_flags + i);
      for (unsigned j = 0; j < 4; ++j) bits |= (flags.elem[j] != 0 ? 1u : 0u) << j;
    } else {
      for (unsigned j = 0; j < count; ++j) bits |= (d_flags[i + j] != 0 ? 1u : 0u) << j;
    }
    return bits;
  }
  const Element* begin() const { return d_flags; }
};

/// Four elements begin a segment where the key is another one than before.
template <class Key>
struct ByKey {
  using Element = Key;
  const Key* d_keys;
  __device__ unsigned begins(std::size_t i, unsigned count, bool whole) const {
    Key before = i > 0 ? d_keys[i - 1] : Key{};  // which another lane loads, too: from the L1 cache
    unsigned bits = i == 0 ? 1 : 0;
    if (whole) {
      const auto keys = course::load_pack<4>(d_keys + i);
      for (unsigned j = 0; j < 4; ++j) {
        bits |= (keys.elem[j] != before ? 1u : 0u) << j;
        before = keys.elem[j];
      }
    } else {
      for (unsigned j = 0; j < count; ++j) {
        bits |= (d_keys[i + j] != before ? 1u : 0u) << j;
        before = d_keys[i + j];
      }
    }
    return bits;
  }
  const Key* begin() const { return d_keys; }
};

/// Rung 0: the sums of each segment, in double.
template <class Begins>
std::vector<double> segments_reference(const std::vector<float>& x, Begins begins) {
  std::vector<double> sums(x.size());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[i] = sum = (begins(i) ? 0 : sum) + static_cast<double>(x[i]);
  }
  return sums;
}

/// Bit j of begins[k] says that element j of pack k begins a segment.
template <class ShapeT, class Where>
__device__ __forceinline__ void load_begins(const Arrays<float>& in, const Where& where,
                                            bool has_packs, std::size_t tile,
                                            unsigned (&begins)[ShapeT::kLoads]) {
  const bool whole = has_packs && is_inner<ShapeT>(in, tile);
  const std::size_t end = in.lead + in.n;
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    const std::size_t at =
        4 * (tile * ShapeT::kPacks + first_pack<ShapeT>() + k * course::kWarpSize);
    const unsigned skipped = at < in.lead ? in.lead : 0;  // elements of the first pack, before x
    const unsigned upto = at + 4 <= end ? 4 : at < end ? static_cast<unsigned>(end - at) : 0;
    begins[k] = upto <= skipped
                    ? 0
                    : where.begins(at + skipped - in.lead, upto - skipped, whole) << skipped;
  }
}

/// Replaces each element of the warp's packs by the sum of its segment up to it, within the warp; bit j of
/// open[k] says that the segment of element j has begun before the warp. Returns the warp's last segment.
template <unsigned loads>
__device__ __forceinline__ Segment scan_segments_of_warp(Pack<float> (&x)[loads],
                                                         const unsigned (&begins)[loads],
                                                         unsigned (&open)[loads]) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  float before = 0;     // of the segment that goes on, up to packs k
  bool is_open = true;  // no segment has begun in the warp before packs k
  for (unsigned k = 0; k < loads; ++k) {
    float(&pack)[4] = x[k].elem;
    for (unsigned j = 1; j < 4; ++j) {
      if ((begins[k] >> j & 1) == 0) pack[j] += pack[j - 1];
    }
    const unsigned lanes = __ballot_sync(course::kAllLanes, begins[k] != 0);
    // The lanes from the last one in which a segment begins, up to this one, sum their last elements.
    const unsigned upto = lanes & course::lanemask_le();
    const unsigned first =
        upto == 0 ? 0 : 31 - static_cast<unsigned>(__clz(static_cast<int>(upto)));
    float sum = pack[3];
    for (unsigned distance = 1; distance < course::kWarpSize; distance *= 2) {
      const float lower = __shfl_up_sync(course::kAllLanes, sum, distance);
      if (lane >= first + distance) sum += lower;
    }
    if (upto == 0) sum += before;
    const float lower = __shfl_up_sync(course::kAllLanes, sum, 1);
    const float start = lane == 0 ? before : lower;
    const unsigned inside =
        (begins[k] & 15) == 0 ? 4 : static_cast<unsigned>(__ffs(static_cast<int>(begins[k]))) - 1;
    for (unsigned j = 0; j < 4; ++j) {
      if (j < inside) pack[j] += start;
    }
    const bool lower_open = is_open && (lanes & course::lanemask_lt()) == 0;
    open[k] = lower_open ? (1u << inside) - 1 : 0;
    before = __shfl_sync(course::kAllLanes, sum, course::kWarpSize - 1);
    is_open = is_open && lanes == 0;
  }
  return {before, is_open ? 0u : 1u};
}

/// The best of several on an H200.
using SegmentShape = Shape<256, 6, 4>;

// Question: what does a scan need to know of its segments?
// Changes:  scan_groups of pairs: a sum, and whether a segment has begun. Shuffles go back to the last lane
//           in which one begins, which a vote tells; what comes from before the warp is added to the elements
//           of the segment that was open already.
// Cost:     a vote for each pack, and the flags or keys are read. A tile tells two words.
template <class Way, class ShapeT, class Where>
__global__ void __launch_bounds__(ShapeT::kThreads, ShapeT::kBlocks)
    scan_segments(Arrays<float> in, Where where, bool has_packs,
                  course::TileStates<Segment> states) {
  __shared__ Segment s_totals[ShapeT::kWarps];
  __shared__ Segment s_base;
  __shared__ unsigned s_tile;
  const Join op;
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  if (threadIdx.x == 0) s_tile = atomicInc(states.d_ticket, gridDim.x - 1);
  __syncthreads();  // the block has a tile
  const unsigned tile = s_tile;
  Pack<float> x[ShapeT::kLoads];
  unsigned begins[ShapeT::kLoads], open[ShapeT::kLoads];
  load_tile<ShapeT>(in, tile, 0.0f, x);
  load_begins<ShapeT>(in, where, has_packs, tile, begins);
  const Segment last = scan_segments_of_warp(x, begins, open);
  if (lane == 0) s_totals[warp] = last;
  __syncthreads();  // all warps have left their last segments
  const Warps<Segment> warps = scan_warps(s_totals, ShapeT::kWarps, warp, op);
  if (warp == 0) {
    if (lane == 0) Way::tell(states, tile, warps.total, op);
    const Segment base = Way::look_back(states, tile, warps.total, op);
    if (lane == 0) s_base = base;
  }
  __syncthreads();  // the tile's base is known
  const float before = op(s_base, warps.before).sum;
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    for (unsigned j = 0; j < 4; ++j) {
      if ((open[k] >> j & 1) != 0) x[k].elem[j] += before;
    }
  }
  store_tile<ShapeT>(in, tile, 0.0f, course::Sum{}, [&](unsigned k) { return x[k]; });
}

/// out[i] = x[s] + ... + x[i], where s is the last element up to i that begins a segment. All arrays are aligned
/// to their elements, no more; d_out may be d_x.
template <class Way = InGroups<kPerLane>, class ShapeT = SegmentShape, class Where>
void launch_scan_segments(const float* d_x, std::size_t n, Where where, float* d_out,
                          course::LookBackMemory<Segment>& memory, cudaStream_t stream = nullptr) {
  const Arrays<float> in = split_arrays(d_x, n, d_out);
  const auto first = reinterpret_cast<std::uintptr_t>(where.begin()) -
                     in.lead * sizeof(typename Where::Element);  // of pack 0
  const bool has_packs = first % (4 * sizeof(typename Where::Element)) == 0;
  const unsigned tiles = n == 0 ? 0 : tiles_of<ShapeT>(in);
  course::launch(scan_segments<Way, ShapeT, Where>, {tiles, ShapeT::kThreads, 0, stream}, in, where,
                 has_packs, memory.next(tiles, stream));
}
