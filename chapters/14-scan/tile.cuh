// A tile: what a block takes at a time, in packs of 16 bytes. The rungs from scan_packs on use it.
#pragma once

#include <course/collectives.cuh>
#include <course/grid.cuh>
#include <course/look_back.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <cstdint>

/// Does out[i] have x[i]?
enum class Scan { inclusive, exclusive };

template <class T>
inline constexpr unsigned kPack = course::kWidestPack<T>;
template <class T>
using Pack = course::Pack<T, course::kWidestPack<T>>;

/// What a scan reads and writes, cut into packs at multiples of 16 bytes of x: pack p has x[kPack p - lead]
/// and what follows. `lead` elements of the first pack, and some of the last one, may be outside of it.
template <class T>
struct Arrays {
  const T* d_x;
  T* d_out;
  std::size_t n;
  unsigned lead;       // 0 to kPack - 1
  bool has_out_packs;  // out begins as far after a multiple of 16 bytes as x
  std::size_t packs;
};

/// d_x and d_out are aligned to their elements, no more.
template <class T>
Arrays<T> split_arrays(const T* d_x, std::size_t n, T* d_out) {
  const auto past = [](const T* p) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(p) % course::kWidestAccess);
  };
  const auto lead = static_cast<unsigned>(past(d_x) / sizeof(T));
  return {d_x, d_out, n, lead, past(d_x) == past(d_out), (lead + n + kPack<T> - 1) / kPack<T>};
}

/// How the packs of a tile are stored: like any others, or with the hint that they are not read soon (__stcs). On an
/// H200 the hint made scan_warp_looks_back, scan_groups and scan_in_turn 5 to 7 % faster for 2^28 floats, and scan_pipelined
/// 0.5 % slower; scan_packs, which reads its output again, took 19 % longer with it for 2^20 floats.
enum class Stores { plain, once };

/// What is measured and not derived: threads per block, packs per thread, blocks per SM, and how it stores.
template <unsigned threads, unsigned loads, unsigned blocks, Stores stores = Stores::plain>
struct Shape {
  static constexpr unsigned kThreads = threads;
  static constexpr unsigned kLoads = loads;
  static constexpr unsigned kBlocks = blocks;
  static constexpr Stores kStores = stores;
  static constexpr unsigned kWarps = threads / course::kWarpSize;
  static constexpr unsigned kPacks = threads * loads;  // of a tile
  static_assert(threads % course::kWarpSize == 0 && kWarps <= course::kWarpSize);
};

/// Tiles of an array, of which the first and the last may have elements outside of it.
template <class ShapeT, class T>
unsigned tiles_of(const Arrays<T>& in) {
  return course::blocks_for(in.packs, ShapeT::kPacks);
}

/// True if all elements of a tile are in the array.
template <class ShapeT, class T>
__device__ __forceinline__ bool is_inner(const Arrays<T>& in, std::size_t tile) {
  return (tile > 0 || in.lead == 0) && (tile + 1) * ShapeT::kPacks * kPack<T> <= in.lead + in.n;
}

/// The first pack of this thread in a tile: a warp has kLoads * 32 packs in a row, of which lane l takes l,
/// l + 32, ...: neighbouring lanes have neighbouring packs.
template <class ShapeT>
__device__ __forceinline__ unsigned first_pack() {
  return threadIdx.x / course::kWarpSize * (ShapeT::kLoads * course::kWarpSize) +
         threadIdx.x % course::kWarpSize;
}

/// Pack p, if it is one of those that may have elements outside of x: these become the identity.
template <class T>
__device__ __forceinline__ Pack<T> load_edge(const Arrays<T>& in, std::size_t p, T identity) {
  const std::size_t first = kPack<T> * p;  // counted from `lead` elements before x
  if (first >= in.lead && first + kPack<T> <= in.lead + in.n) {
    return course::load_pack<kPack<T>>(in.d_x + (first - in.lead));
  }
  Pack<T> pack;
  for (unsigned j = 0; j < kPack<T>; ++j) {
    const std::size_t at = first + j;
    pack.elem[j] = at >= in.lead && at < in.lead + in.n ? in.d_x[at - in.lead] : identity;
  }
  return pack;
}

/// Writes pack p to out; elements outside of it are left out.
template <class T>
__device__ __forceinline__ void store_edge(const Arrays<T>& in, std::size_t p,
                                           const Pack<T>& pack) {
  const std::size_t first = kPack<T> * p;
  if (in.has_out_packs && first >= in.lead && first + kPack<T> <= in.lead + in.n) {
    return course::store_pack(in.d_out + (first - in.lead), pack);
  }
  for (unsigned j = 0; j < kPack<T>; ++j) {
    const std::size_t at = first + j;
    if (at >= in.lead && at < in.lead + in.n) in.d_out[at - in.lead] = pack.elem[j];
  }
}

/// The same for a pack of a tile; `is_whole` says that the tile's packs are in the array, and aligned in out.
template <class ShapeT, class T>
__device__ __forceinline__ void store_pack_of_tile(const Arrays<T>& in, std::size_t p,
                                                   bool is_whole, const Pack<T>& pack) {
  if (!is_whole) {
    store_edge(in, p, pack);
  } else if constexpr (ShapeT::kStores == Stores::once) {
    course::store_pack_once(in.d_out + (kPack<T> * p - in.lead), pack);
  } else {
    course::store_pack(in.d_out + (kPack<T> * p - in.lead), pack);
  }
}

/// This thread's packs of a tile: all loads are on their way at once. Plain loads: with the hint that data is
/// read once (__ldcs) scan_pipelined took 3 to 5 % longer on an H200.
template <class ShapeT, class T>
__device__ __forceinline__ void load_tile(const Arrays<T>& in, std::size_t tile, T identity,
                                          Pack<T> (&x)[ShapeT::kLoads]) {
  const std::size_t first = tile * ShapeT::kPacks + first_pack<ShapeT>();
  if (is_inner<ShapeT>(in, tile)) {
    const T* const from = in.d_x + (kPack<T> * first - in.lead);
    for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
      x[k] = course::load_pack<kPack<T>>(from + k * course::kWarpSize * kPack<T>);
    }
  } else {
    for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
      x[k] = load_edge(in, first + k * course::kWarpSize, identity);
    }
  }
}

/// The element before this lane's pack k, of which `last` is the last one. Before lane 0's pack comes the pack k - 1 of
/// lane 31, which has its last element in `above`, and for k = 0 what load_above() has given it.
template <class Element>
__device__ __forceinline__ Element lower_neighbor(Element last, Element& above) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  const Element given = lane == course::kWarpSize - 1 ? above : last;
  above = last;
  return static_cast<Element>(
      __shfl_sync(course::kAllLanes, static_cast<unsigned>(given),
                  static_cast<int>((lane + course::kWarpSize - 1) % course::kWarpSize)));
}

/// For lane 31, the element before the warp's first one in a tile, if there is one: d_elements[i] is for x[i].
template <class ShapeT, class T, class Element>
__device__ __forceinline__ Element load_above(const Arrays<T>& in, std::size_t tile,
                                              const Element* d_elements) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  const std::size_t first = kPack<T> * (tile * ShapeT::kPacks + first_pack<ShapeT>() - lane);
  if (lane != course::kWarpSize - 1 || first <= in.lead || first > in.lead + in.n) return {};
  return d_elements[first - in.lead - 1];
}

/// Writes op(before, pack(k)) to out for this thread's packs of a tile.
template <class ShapeT, class T, class Operation, class PackOf>
__device__ __forceinline__ void store_tile(const Arrays<T>& in, std::size_t tile, T before,
                                           Operation op, PackOf pack_of) {
  const std::size_t first = tile * ShapeT::kPacks + first_pack<ShapeT>();
  const bool is_whole = in.has_out_packs && is_inner<ShapeT>(in, tile);
  for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
    Pack<T> pack = pack_of(k);
    for (unsigned j = 0; j < kPack<T>; ++j) pack.elem[j] = op(before, pack.elem[j]);
    store_pack_of_tile<ShapeT>(in, first + k * course::kWarpSize, is_whole, pack);
  }
}

/// Replaces each element of the warp's packs by the scan of the warp's elements up to it, and returns the
/// reduction of all of them. Pack k of lane l comes before pack k of lane l + 1, and all packs k before all
/// packs k + 1: the order of the elements.
template <Scan kind, unsigned loads, class T, class Operation>
__device__ __forceinline__ T scan_packs_of_warp(Pack<T> (&x)[loads], Operation op) {
  constexpr unsigned kLast = kPack<T> - 1;
  const unsigned lane = threadIdx.x % course::kWarpSize;
  T before = Operation::template identity<T>();  // all packs of the warp before packs k
  for (unsigned k = 0; k < loads; ++k) {
    T(&pack)[kPack<T>] = x[k].elem;
    for (unsigned j = 1; j <= kLast; ++j) pack[j] = op(pack[j - 1], pack[j]);
    const T lanes = course::warp_scan_any(pack[kLast], op);
    const T lower = course::shuffle_up(lanes, 1);
    const T start = lane == 0 ? before : op(before, lower);
    if constexpr (kind == Scan::inclusive) {
      for (unsigned j = 0; j <= kLast; ++j) pack[j] = op(start, pack[j]);
    } else {
      for (unsigned j = kLast; j > 0; --j) pack[j] = op(start, pack[j - 1]);
      pack[0] = start;
    }
    before = op(before, course::shuffle(lanes, course::kWarpSize - 1));
  }
  return before;
}

/// What a warp knows of a tile.
template <class T>
struct Warps {
  T before;  // the reduction of the warps before this one
  T total;   // of all warps
};

/// s_totals[0..warps-1] are the warps' reductions; `warp` is which one asks. All lanes of it call it.
template <class T, class Operation>
__device__ __forceinline__ Warps<T> scan_warps(const T* s_totals, unsigned warps, unsigned warp,
                                               Operation op) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  const T identity = Operation::template identity<T>();
  const T upto = course::warp_scan_any(lane < warps ? s_totals[lane] : identity, op);
  const T lower = course::shuffle(upto, warp == 0 ? 0 : warp - 1);
  return {warp == 0 ? identity : lower, course::shuffle(upto, course::kWarpSize - 1)};
}
