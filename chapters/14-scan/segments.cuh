// Sums that begin anew: at each flag, or wherever the key is another one than before. How much does a segment
// cost, if it may begin anywhere?
// Rungs: scan_by_flag, scan_by_key.
#pragma once

#include <algorithm>
#include <course/collectives.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// Four elements as they lie in memory: while they are on their way, bytes share a register.
template <class Element>
using RawPack = course::Pack<unsigned, sizeof(Element)>;

/// What a thread has of a tile.
template <class ShapeT, class Where>
struct SegmentTile {
  Pack<float> x[ShapeT::kLoads];
  RawPack<typename Where::Element> where[ShapeT::kLoads];
  typename Where::Element above;  // as of load_above()
};

/// All loads are on their way at once. Elements outside of the array may begin segments: they are 0, and their sums
/// are not written.
template <class ShapeT, class Where>
__device__ __forceinline__ void load_segments(const Arrays<float>& in, const Where& where,
                                              bool has_packs, std::size_t tile,
                                              SegmentTile<ShapeT, Where>& loaded) {
  using Element = typename Where::Element;
  load_tile<ShapeT>(in, tile, 0.0f, loaded.x);
  const bool is_whole = has_packs && is_inner<ShapeT>(in, tile);
  const std::size_t first = 4 * (tile * ShapeT::kPacks + first_pack<ShapeT>());
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    const std::size_t at = first + 4 * k * course::kWarpSize;  // from `lead` elements before x
    if (is_whole) {
      const Element* const from = where.d_elements + (at - in.lead);
      loaded.where[k] = course::load_pack<sizeof(Element)>(reinterpret_cast<const unsigned*>(from));
    } else {
      Element pack[4];
      for (unsigned j = 0; j < 4; ++j) {
        const bool is_inside = at + j >= in.lead && at + j < in.lead + in.n;
        pack[j] = is_inside ? where.d_elements[at + j - in.lead] : Element{};
      }
      memcpy(static_cast<void*>(&loaded.where[k]), pack, sizeof pack);
    }
  }
  if (Where::kLooksBefore) loaded.above = load_above<ShapeT>(in, tile, where.d_elements);
}

/// Bit 4 k + j says that element j of pack k begins a segment.
template <class ShapeT, class Where>
__device__ __forceinline__ unsigned begins_of(SegmentTile<ShapeT, Where>& loaded) {
  static_assert(4 * ShapeT::kLoads <= 32);
  using Element = typename Where::Element;
  unsigned bits = 0;
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    course::Pack<Element, 4> pack;
    memcpy(static_cast<void*>(&pack), &loaded.where[k], sizeof pack);
    Element before{};
    if (Where::kLooksBefore) before = lower_neighbor(pack.elem[3], loaded.above);
    bits |= Where::begins(pack, before) << 4 * k;
  }
  return bits;
}

/// Replaces each element of the warp's packs by the sum of its segment up to it, within the warp; for the first `open`
/// elements of this lane the segment has begun before the warp. Returns the warp's last segment.
template <unsigned loads>
__device__ __forceinline__ Segment scan_segments_of_warp(Pack<float> (&x)[loads], unsigned begins,
                                                         unsigned& open) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  float before = 0;     // of the segment that goes on, up to packs k
  bool is_open = true;  // no segment has begun in the warp before packs k
  open = 0;
  for (unsigned k = 0; k < loads; ++k) {
    float(&pack)[4] = x[k].elem;
    const unsigned bits = begins >> 4 * k & 15;
    for (unsigned j = 1; j < 4; ++j) {
      if ((bits >> j & 1) == 0) pack[j] += pack[j - 1];
    }
    const unsigned lanes = __ballot_sync(course::kAllLanes, bits != 0);
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
        bits == 0 ? 4 : static_cast<unsigned>(__ffs(static_cast<int>(bits))) - 1;
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
  /// Does a block look back for this tile before it takes the next one? Later groups wait for what it tells.
  __device__ static bool is_early(unsigned tile, const Segment& total) {
    return is_last(tile) && total.begins == 0;
  }
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
    if (is_early(tile, total) && threadIdx.x % course::kWarpSize == 0) {
      states.tell(tile, course::Told::prefix, before + total.sum);
    }
    return before;
  }
};

/// A tile whose sums have been scanned, and which waits for what is before it.
struct WaitingTile {
  unsigned tile, open;  // open: as of scan_segments_of_warp()
  Warps<Segment> warps;
};

/// Writes those of the thread's packs that need nothing from before the warp, and keeps the others in s_kept.
template <class ShapeT>
__device__ __forceinline__ void store_or_keep(const Arrays<float>& in, std::size_t tile,
                                              unsigned open, const Pack<float> (&x)[ShapeT::kLoads],
                                              float* s_kept) {
  const bool is_whole = in.has_out_packs && is_inner<ShapeT>(in, tile);
  const std::size_t first = tile * ShapeT::kPacks + first_pack<ShapeT>();
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    if (4 * k < open) {
      course::store_pack(s_kept + 4 * k * course::kWarpSize, x[k]);
    } else {
      store_pack_of_tile<ShapeT>(in, first + k * course::kWarpSize, is_whole, x[k]);
    }
  }
}

/// Writes the packs that were kept: `base` is what comes before the tile.
template <class ShapeT>
__device__ __forceinline__ void finish(const Arrays<float>& in, const WaitingTile& waiting,
                                       float base, const float* s_kept) {
  const Segment& lower = waiting.warps.before;
  const float before = lower.sum + (lower.begins != 0 ? 0 : base);
  const bool is_whole = in.has_out_packs && is_inner<ShapeT>(in, waiting.tile);
  const std::size_t first = std::size_t{waiting.tile} * ShapeT::kPacks + first_pack<ShapeT>();
  for (unsigned k = 0; 4 * k < waiting.open; ++k) {
    Pack<float> pack = course::load_pack<4>(s_kept + 4 * k * course::kWarpSize);
    for (unsigned j = 0; j < 4; ++j) {
      if (4 * k + j < waiting.open) pack.elem[j] += before;
    }
    store_pack_of_tile<ShapeT>(in, first + k * course::kWarpSize, is_whole, pack);
  }
}

/// Shared memory of a block: what waits of two tiles.
template <class ShapeT>
inline constexpr std::size_t kSegmentBytes = 2 * ShapeT::kPacks* course::kWidestAccess;

// Question: what does a scan need to know of its segments?
// Changes:  scan_pipelined of pairs: a sum, and whether a segment has begun. Shuffles go back to the last lane
//           in which one begins, which a vote tells. What comes from before the warp is added to the elements of the
//           segment that was open already: these alone wait, in shared memory; all others are written at once. A tile in
//           which a segment begins tells its prefix at once. The next tile's loads are on their way before the block
//           waits for others: it draws its tiles one ahead.
// Cost:     a vote for each pack, and the flags or keys are read. Only segments longer than a tile make tiles wait for
//           more than the one before.
template <class Way, class ShapeT, class Where>
__global__ void __launch_bounds__(ShapeT::kThreads, ShapeT::kBlocks)
    scan_segments(Arrays<float> in, Where where, bool has_packs, unsigned tiles,
                  course::TileStates<float> states) {
  extern __shared__ __align__(16) unsigned char s_bytes[];  // what waits of two tiles
  __shared__ Segment s_totals[2][ShapeT::kWarps];
  __shared__ float s_base;
  __shared__ unsigned s_tile, s_next;
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  // A thread reads what it has written itself: it needs no barrier.
  float* const s_mine = reinterpret_cast<float*>(s_bytes) + 4 * first_pack<ShapeT>();
  constexpr unsigned kSlots = 4 * ShapeT::kPacks;  // floats of a tile
  const auto draw = [&] { return atomicInc(states.d_ticket, tiles + 2 * gridDim.x - 1); };
  if (threadIdx.x == 0) {
    s_tile = draw();
    s_next = draw();
  }
  __syncthreads();  // the block has two tiles, or there are no more
  unsigned tile = s_tile, next = s_next, turn = 0;
  if (tile >= tiles) return;
  WaitingTile waiting = {tile, 0, {}};  // none waits yet
  float early = 0;
  const auto find_base = [&] {  // of the waiting tile; by warp 0
    const bool is_known = Way::is_early(waiting.tile, waiting.warps.total);
    const float base = is_known ? early : Way::look_back(states, waiting.tile, waiting.warps.total);
    if (lane == 0) s_base = base;
  };
  SegmentTile<ShapeT, Where> loaded;
  load_segments(in, where, has_packs, tile, loaded);
  while (tile < tiles) {
    unsigned open;
    const Segment last = scan_segments_of_warp(loaded.x, begins_of(loaded), open);
    if (lane == 0) s_totals[turn][warp] = last;
    store_or_keep<ShapeT>(in, tile, open, loaded.x, s_mine + turn * kSlots);
    if (next < tiles) load_segments(in, where, has_packs, next, loaded);
    __syncthreads();  // all warps have left their last segments
    const Warps<Segment> warps = scan_warps(s_totals[turn], ShapeT::kWarps, warp, Join{});
    if (warp == 0) {
      unsigned drawn = 0;
      if (lane == 0) drawn = draw();  // arrives while it looks back
      if (lane == 0) Way::tell(states, tile, warps.total);
      if (waiting.tile != tile) find_base();
      if (lane == 0) s_next = drawn;
    }
    __syncthreads();  // a tile after the next one, and the base of the waiting one, are known
    if (warp == 0 && Way::is_early(tile, warps.total)) {
      early = Way::look_back(states, tile, warps.total);
    }
    if (waiting.tile != tile) finish<ShapeT>(in, waiting, s_base, s_mine + (turn ^ 1) * kSlots);
    waiting = {tile, open, warps}, tile = next, next = s_next, turn ^= 1;
  }
  __syncthreads();  // the base of the tile before the last has been read
  if (warp == 0) find_base();
  __syncthreads();  // the last tile's base is known
  finish<ShapeT>(in, waiting, s_base, s_mine + (turn ^ 1) * kSlots);
}

/// As launch_scan_segments().
template <class Way, class ShapeT, class Where>
void launch_scan_segments_shaped(const float* d_x, std::size_t n, Where where, float* d_out,
                                 course::LookBackMemory<float>& memory,
                                 cudaStream_t stream = nullptr) {
  constexpr auto kKernel = scan_segments<Way, ShapeT, Where>;
  constexpr std::size_t kShared = kSegmentBytes<ShapeT>;
  static const unsigned resident = course::resident_blocks(kKernel, ShapeT::kThreads, kShared);
  const Arrays<float> in = split_arrays(d_x, n, d_out);
  constexpr std::size_t kElement = sizeof(typename Where::Element);
  const auto first = reinterpret_cast<std::uintptr_t>(where.d_elements) - in.lead * kElement;
  const bool has_packs = first % (4 * kElement) == 0;  // pack 0 begins there
  const unsigned tiles = n == 0 ? 0 : tiles_of<ShapeT>(in);
  course::launch(kKernel, {std::min(tiles, resident), ShapeT::kThreads, kShared, stream}, in, where,
                 has_packs, tiles, memory.next(tiles, stream));
}

/// The best of several on an H200, and for a GPU whose blocks have less shared memory.
using SegmentShape = Shape<256, 8, 2>;
using SmallerSegmentShape = Shape<256, 4, 3>;

/// out[i] = x[s] + ... + x[i], where s is the last element up to i that begins a segment; the first element always
/// does. All arrays are aligned to their elements, no more; d_out may be d_x.
template <class Where>
void launch_scan_segments(const float* d_x, std::size_t n, Where where, float* d_out,
                          course::LookBackMemory<float>& memory, cudaStream_t stream = nullptr) {
  using Way = SegmentsInGroups<kPerLane>;
  static const bool fits =  // with its variables
      course::allows_shared_bytes(kSegmentBytes<SegmentShape> + 1024);
  if (fits) {
    launch_scan_segments_shaped<Way, SegmentShape>(d_x, n, where, d_out, memory, stream);
  } else {
    launch_scan_segments_shaped<Way, SmallerSegmentShape>(d_x, n, where, d_out, memory, stream);
  }
}
