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

/// A segment begins where the byte of a flag is not 0.
struct ByFlag {
  using Element = std::uint8_t;
  static constexpr bool kLooksBefore = false;
  const Element* d_elements;
  /// Bit j: element j of a pack begins a segment.
  __device__ static unsigned begins(const course::Pack<Element, 4>& flags, Element) {
    unsigned bits = 0;
    for (unsigned j = 0; j < 4; ++j) bits |= (flags.elem[j] != 0 ? 1u : 0u) << j;
    return bits;
  }
};

/// A segment begins where the key is another one than before.
template <class Key>
struct ByKey {
  using Element = Key;
  static constexpr bool kLooksBefore = true;
  const Key* d_elements;
  __device__ static unsigned begins(const course::Pack<Key, 4>& keys, Key before) {
    unsigned bits = 0;
    for (unsigned j = 0; j < 4; ++j) {
      bits |= (keys.elem[j] != before ? 1u : 0u) << j;
      before = keys.elem[j];
    }
    return bits;
  }
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

/// Bit j of begins[k] says that element j of pack k begins a segment. Elements outside of the array may say so, too:
/// they are 0, and their sums are not written.
template <class ShapeT, class Where>
__device__ __forceinline__ void load_begins(const Arrays<float>& in, const Where& where,
                                            bool has_packs, std::size_t tile,
                                            unsigned (&begins)[ShapeT::kLoads]) {
  using Element = typename Where::Element;
  const bool is_whole = has_packs && is_inner<ShapeT>(in, tile);
  const std::size_t first = 4 * (tile * ShapeT::kPacks + first_pack<ShapeT>());
  course::Pack<Element, 4> packs[ShapeT::kLoads];
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    const std::size_t at = first + 4 * k * course::kWarpSize;  // from `lead` elements before x
    if (is_whole) {
      packs[k] = course::load_pack<4>(where.d_elements + (at - in.lead));
    } else {
      for (unsigned j = 0; j < 4; ++j) {
        const bool is_inside = at + j >= in.lead && at + j < in.lead + in.n;
        packs[k].elem[j] = is_inside ? where.d_elements[at + j - in.lead] : Element{};
      }
    }
  }
  Element before{}, above{};
  if (Where::kLooksBefore) above = load_above<ShapeT>(in, tile, where.d_elements);
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    if (Where::kLooksBefore) before = lower_neighbor(packs[k].elem[3], above);
    begins[k] = Where::begins(packs[k], before);
  }
}

/// Replaces each element of the warp's packs by the sum of its segment up to it, within the warp; for the first `open`
/// elements of this lane the segment has begun before the warp. Returns the warp's last segment.
template <unsigned loads>
__device__ __forceinline__ Segment scan_segments_of_warp(Pack<float> (&x)[loads],
                                                         const unsigned (&begins)[loads],
                                                         unsigned& open) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  float before = 0;     // of the segment that goes on, up to packs k
  bool is_open = true;  // no segment has begun in the warp before packs k
  open = 0;
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
        begins[k] == 0 ? 4 : static_cast<unsigned>(__ffs(static_cast<int>(begins[k]))) - 1;
    for (unsigned j = 0; j < 4; ++j) {
      if (j < inside) pack[j] += start;
    }
    if (is_open && (lanes & course::lanemask_lt()) == 0) open += inside;
    before = __shfl_sync(course::kAllLanes, sum, course::kWarpSize - 1);
    is_open = is_open && lanes == 0;
  }
  return {before, is_open ? 0u : 1u};
}

/// As InGroups, but a tile in which a segment begins knows what its last segment has: it tells a prefix at once, and
/// a later tile need not look at those before it. What it tells is one float: whether a segment begins is the kind of word.
template <unsigned per_lane>
struct SegmentsInGroups {
  __device__ static bool is_last(unsigned tile) { return InGroups<per_lane>::is_last(tile); }
  __device__ static void tell(const course::TileStates<float>& states, unsigned tile,
                              const Segment& total) {
    if (total.begins != 0) {
      states.tell(tile, course::Told::prefix, total.sum);
    } else if (!is_last(tile)) {
      states.tell(tile, course::Told::aggregate, total.sum);
    }
  }
  /// What the segment that is open where the tile begins has before it. The order of the additions is fixed: it
  /// depends on the tile, and on where segments begin.
  __device__ static float sum_before(const course::TileStates<float>& states, unsigned tile) {
    const unsigned first = tile / course::kTilesOfGroup<per_lane> * course::kTilesOfGroup<per_lane>;
    float own = 0;                             // of the tiles of the group that have been looked at
    for (unsigned end = tile; end > first;) {  // 32 tiles at once, the nearest ones first
      const unsigned begin = first + (end - 1 - first) / course::kWarpSize * course::kWarpSize;
      const unsigned from = begin + threadIdx.x % course::kWarpSize;
      course::TileState<float> state = {course::Told::aggregate, 0};
      unsigned missing, prefixes;
      do {  // until no word is missing after the last prefix
        if (from < end) state = states.look_at(from);
        missing = __ballot_sync(course::kAllLanes, state.told == course::Told::nothing);
        prefixes = __ballot_sync(course::kAllLanes, state.told == course::Told::prefix);
      } while (missing > prefixes);
      const bool counts = (prefixes & course::lanemask_gt()) == 0;
      own = course::warp_reduce(counts ? state.value : 0.0f, course::Sum{}) + own;
      if (prefixes != 0) return own;
      end = begin;
    }
    if (first == 0) return own;
    course::TileState<float> group;
    do {
      group = states.look_at(first - 1);
    } while (group.told == course::Told::nothing);
    __syncwarp();
    return group.value + own;
  }
  __device__ static float look_back(const course::TileStates<float>& states, unsigned tile,
                                    const Segment& total) {
    const float before = sum_before(states, tile);
    if (is_last(tile) && total.begins == 0 && threadIdx.x % course::kWarpSize == 0) {
      states.tell(tile, course::Told::prefix, before + total.sum);
    }
    return before;
  }
};

/// The best of several on an H200.
using SegmentShape = Shape<256, 6, 4>;

// Question: what does a scan need to know of its segments?
// Changes:  scan_groups of pairs: a sum, and whether a segment has begun. Shuffles go back to the last lane
//           in which one begins, which a vote tells. What comes from before the warp is added to the elements of the
//           segment that was open already; all others are written before anything is waited for. A tile in which a
//           segment begins tells its prefix at once.
// Cost:     a vote for each pack, and the flags or keys are read. Only segments longer than a tile make tiles wait for
//           more than the one before.
template <class Way, class ShapeT, class Where>
__global__ void __launch_bounds__(ShapeT::kThreads, ShapeT::kBlocks)
    scan_segments(Arrays<float> in, Where where, bool has_packs, course::TileStates<float> states) {
  __shared__ Segment s_totals[ShapeT::kWarps];
  __shared__ float s_base;
  __shared__ unsigned s_tile;
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  if (threadIdx.x == 0) s_tile = atomicInc(states.d_ticket, gridDim.x - 1);
  __syncthreads();  // the block has a tile
  const unsigned tile = s_tile;
  Pack<float> x[ShapeT::kLoads];
  unsigned begins[ShapeT::kLoads], open;
  load_tile<ShapeT>(in, tile, 0.0f, x);
  load_begins<ShapeT>(in, where, has_packs, tile, begins);
  const Segment last = scan_segments_of_warp(x, begins, open);
  if (lane == 0) s_totals[warp] = last;
  const std::size_t first = std::size_t{tile} * ShapeT::kPacks + first_pack<ShapeT>();
  const bool is_whole = in.has_out_packs && is_inner<ShapeT>(in, tile);
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    if (4 * k < open) continue;  // it needs what is before the warp
    store_pack_of_tile<ShapeT>(in, first + k * course::kWarpSize, is_whole, x[k]);
  }
  __syncthreads();  // all warps have left their last segments
  const Warps<Segment> warps = scan_warps(s_totals, ShapeT::kWarps, warp, Join{});
  if (warp == 0) {
    if (lane == 0) Way::tell(states, tile, warps.total);
    const float base = Way::look_back(states, tile, warps.total);
    if (lane == 0) s_base = base;
  }
  __syncthreads();  // the tile's base is known
  const float before = warps.before.sum + (warps.before.begins != 0 ? 0 : s_base);
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    if (4 * k >= open) break;
    for (unsigned j = 0; j < 4; ++j) {
      if (4 * k + j < open) x[k].elem[j] += before;
    }
    store_pack_of_tile<ShapeT>(in, first + k * course::kWarpSize, is_whole, x[k]);
  }
}

/// out[i] = x[s] + ... + x[i], where s is the last element up to i that begins a segment; the first element always
/// does. All arrays are aligned to their elements, no more; d_out may be d_x.
template <class Way = SegmentsInGroups<kPerLane>, class ShapeT = SegmentShape, class Where>
void launch_scan_segments(const float* d_x, std::size_t n, Where where, float* d_out,
                          course::LookBackMemory<float>& memory, cudaStream_t stream = nullptr) {
  const Arrays<float> in = split_arrays(d_x, n, d_out);
  constexpr std::size_t kElement = sizeof(typename Where::Element);
  const auto first = reinterpret_cast<std::uintptr_t>(where.d_elements) - in.lead * kElement;
  const bool has_packs = first % (4 * kElement) == 0;  // pack 0 begins there
  const unsigned tiles = n == 0 ? 0 : tiles_of<ShapeT>(in);
  course::launch(scan_segments<Way, ShapeT, Where>, {tiles, ShapeT::kThreads, 0, stream}, in, where,
                 has_packs, memory.next(tiles, stream));
}
