// One pass: a tile needs what all tiles before it hold. Who tells it, and what does it do until then?
// Rungs: scan_thread_looks_back, scan_warp_looks_back, scan_groups, scan_pipelined (the fastest one for large
// arrays), scan_in_turn (the fastest one for small arrays).
#pragma once

#include <algorithm>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>
#include <cstddef>

#include "tile.cuh"
#include "two_passes.cuh"

/// As TileShape, which stores plainly: scan_packs reads its output again.
using LookBackShape = Shape<kBlockSize, 8, 3, Stores::once>;

/// Tiles per lane in look_back_in_groups(): groups of 64.
constexpr unsigned kPerLane = 2;

// ---- ways to look back --------------------------------------------------------------------------

/// Every way: tells a tile's aggregate, by one thread; looks back by one warp, and returns the reduction of
/// all tiles before, for lane 0 at least. A tile needs the other tiles' help, and helps those after it.
struct ByThread {
  /// Does a block look back for this tile before it takes the next one?
  __device__ static bool is_early(unsigned) { return false; }
  template <class T, class Operation>
  __device__ static void tell(const course::TileStates<T>& states, unsigned tile, T total,
                              Operation) {
    states.tell(tile, tile == 0 ? course::Told::prefix : course::Told::aggregate, total);
  }
  /// Lane 0 looks at one tile after the other, back to one that knows its prefix.
  template <class T, class Operation>
  __device__ static T look_back(const course::TileStates<T>& states, unsigned tile, T total,
                                Operation op) {
    T before = Operation::template identity<T>();
    if (tile == 0 || threadIdx.x % course::kWarpSize != 0) return before;
    for (unsigned from = tile - 1;;) {
      const course::TileState<T> state = states.look_at(from);
      if (state.told == course::Told::nothing) continue;
      before = op(state.value, before);
      if (state.told == course::Told::prefix) break;
      --from;
    }
    states.tell(tile, course::Told::prefix, op(before, total));
    return before;
  }
};

struct ByWarp : ByThread {
  template <class T, class Operation>
  __device__ static T look_back(const course::TileStates<T>& states, unsigned tile, T total,
                                Operation op) {
    const T before = course::look_back(states, tile, op);
    if (tile > 0 && threadIdx.x % course::kWarpSize == 0) {
      states.tell(tile, course::Told::prefix, op(before, total));
    }
    return before;
  }
};

/// In groups: the order is fixed, and a tile tells one thing alone.
template <unsigned per_lane>
struct InGroups {
  __device__ static bool is_early(unsigned tile) { return is_last(tile); }
  __device__ static bool is_last(unsigned tile) {
    return tile % course::kTilesOfGroup<per_lane> == course::kTilesOfGroup<per_lane> - 1;
  }
  template <class T, class Operation>
  __device__ static void tell(const course::TileStates<T>& states, unsigned tile, T total,
                              Operation) {
    if (!is_last(tile)) states.tell(tile, course::Told::aggregate, total);
  }
  template <class T, class Operation>
  __device__ static T look_back(const course::TileStates<T>& states, unsigned tile, T total,
                                Operation op) {
    const T before = course::look_back_in_groups<per_lane>(states, tile, op);
    if (is_last(tile) && threadIdx.x % course::kWarpSize == 0) {
      states.tell(tile, course::Told::prefix, op(before, total));
    }
    return before;
  }
};

// ---- a block per tile ---------------------------------------------------------------------------

// Question: can a tile learn what is before it without another kernel?
// Changes:  one kernel: a tile tells the others its sum, and sums what those before it have told.
// Cost:     everything is read and written once; an atomic per tile; waiting, while other blocks load.
template <class Way, class ShapeT, Scan kind, class T, class Operation>
__global__ void __launch_bounds__(ShapeT::kThreads, ShapeT::kBlocks)
    scan_look_back(Arrays<T> in, course::TileStates<T> states, Operation op) {
  __shared__ T s_totals[ShapeT::kWarps];
  __shared__ T s_base;
  __shared__ unsigned s_tile;
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  // Not blockIdx.x: nothing promises that blocks start in their order, and a tile that waits for
  // one whose block has not started could wait for ever. atomicInc ends at 0: the next launch's
  // first ticket.
  if (threadIdx.x == 0) s_tile = atomicInc(states.d_ticket, gridDim.x - 1);
  __syncthreads();  // the block has a tile
  const unsigned tile = s_tile;
  Pack<T> x[ShapeT::kLoads];
  const Warps<T> warps = load_and_scan<ShapeT, kind>(in, tile, op, s_totals, x);
  if (warp == 0) {
    if (lane == 0) Way::tell(states, tile, warps.total, op);
    const T base = Way::look_back(states, tile, warps.total, op);
    if (lane == 0) s_base = base;
  }
  __syncthreads();  // the tile's base is known
  store_tile<ShapeT>(in, tile, op(s_base, warps.before), op, [&](unsigned k) { return x[k]; });
}

/// out[i] = op(x[0], ..., x[i]), or without x[i]. d_x and d_out are aligned to their elements, no more;
/// they may be the same array.
template <class Way, class ShapeT = LookBackShape, Scan kind = Scan::inclusive, class T,
          class Operation>
void launch_scan_look_back(const T* d_x, std::size_t n, T* d_out, Operation op,
                           course::LookBackMemory<T>& memory, cudaStream_t stream = nullptr) {
  const Arrays<T> in = split_arrays(d_x, n, d_out);
  const unsigned tiles = n == 0 ? 0 : tiles_of<ShapeT>(in);
  course::launch(scan_look_back<Way, ShapeT, kind, T, Operation>,
                 {tiles, ShapeT::kThreads, 0, stream}, in, memory.next(tiles, stream), op);
}

// ---- a block takes tile after tile --------------------------------------------------------------

/// How a block that takes several tiles gets them.
enum class Tiles {
  by_ticket,  // as they come
  in_turn     // tile blockIdx.x, and then every gridDim.x-th one: all blocks must be resident
};

// Question: what does a block do while it waits?
// Changes:  a block takes tile after tile. It leaves a scanned tile in shared memory, and loads and scans
//           the next one before it needs this one's base. The last tile of a group looks back at once, because
//           others wait for what it tells.
// Cost:     twice the memory per thread; as many tickets as tiles, and one more per block.
// In turn:  scan_in_turn's block takes every gridDim.x-th tile. No ticket is waited for; but all blocks have to be
//           resident, which a cooperative launch ensures.
template <Tiles order, class Way, class ShapeT, Scan kind, class T, class Operation>
__global__ void __launch_bounds__(ShapeT::kThreads, ShapeT::kBlocks)
    scan_pipelined(Arrays<T> in, unsigned tiles, course::TileStates<T> states, Operation op) {
  extern __shared__ __align__(16) unsigned char s_bytes[];  // the tile that waits for its base
  __shared__ T s_totals[2][ShapeT::kWarps];
  __shared__ T s_base;
  __shared__ unsigned s_next;
  T* const s_waiting = reinterpret_cast<T*>(s_bytes);
  const T identity = Operation::template identity<T>();
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  // A thread reads what it has written itself: it needs no barrier.
  const auto slot = [&](unsigned k) {
    return s_waiting + kPack<T> * (first_pack<ShapeT>() + k * course::kWarpSize);
  };
  const auto store = [&](unsigned tile, T before) {
    store_tile<ShapeT>(in, tile, op(s_base, before), op,
                       [&](unsigned k) { return course::load_pack<kPack<T>>(slot(k)); });
  };
  const auto draw = [&] { return atomicInc(states.d_ticket, tiles + gridDim.x - 1); };
  unsigned tile = blockIdx.x;
  if constexpr (order == Tiles::by_ticket) {
    if (threadIdx.x == 0) s_next = draw();
    __syncthreads();  // the block has a tile, or there are no more
    tile = s_next;
  }
  unsigned waiting = tile, turn = 0;  // none waits yet
  T early = identity;
  if (tile >= tiles) return;
  Warps<T> of_waiting = {identity, identity};
  Pack<T> x[ShapeT::kLoads];
  load_tile<ShapeT>(in, tile, identity, x);
  while (tile < tiles) {
    const T warp_total = scan_packs_of_warp<kind>(x, op);
    if (lane == 0) s_totals[turn][warp] = warp_total;
    __syncthreads();  // all warps have left their totals
    const Warps<T> warps = scan_warps(s_totals[turn], ShapeT::kWarps, warp, op);
    if (warp == 0) {
      unsigned drawn = 0;
      if (order == Tiles::by_ticket && lane == 0) drawn = draw();  // arrives while it looks back
      if (lane == 0) Way::tell(states, tile, warps.total, op);
      if (waiting != tile) {
        const T base =
            Way::is_early(waiting) ? early : Way::look_back(states, waiting, of_waiting.total, op);
        if (lane == 0) s_base = base;
      }
      if (order == Tiles::by_ticket && lane == 0) s_next = drawn;
    }
    __syncthreads();  // the next tile, and the base of the waiting one, are known
    if (warp == 0 && Way::is_early(tile)) early = Way::look_back(states, tile, warps.total, op);
    if (waiting != tile) store(waiting, of_waiting.before);
    const unsigned next = order == Tiles::by_ticket ? s_next : tile + gridDim.x;
    for (unsigned k = 0; k < ShapeT::kLoads; ++k) course::store_pack(slot(k), x[k]);
    if (next < tiles) load_tile<ShapeT>(in, next, identity, x);
    waiting = tile, of_waiting = warps, tile = next, turn ^= 1;
  }
  __syncthreads();  // the base of the tile before the last has been read
  if (warp == 0) {
    const T base =
        Way::is_early(waiting) ? early : Way::look_back(states, waiting, of_waiting.total, op);
    if (lane == 0) s_base = base;
  }
  __syncthreads();  // the last tile's base is known
  store(waiting, of_waiting.before);
}

/// As launch_scan_look_back().
template <Tiles order, class Way, class ShapeT, Scan kind = Scan::inclusive, class T,
          class Operation>
void launch_scan_pipelined_shaped(const T* d_x, std::size_t n, T* d_out, Operation op,
                                  course::LookBackMemory<T>& memory,
                                  cudaStream_t stream = nullptr) {
  constexpr std::size_t kShared = ShapeT::kPacks * course::kWidestAccess;
  constexpr auto kKernel = scan_pipelined<order, Way, ShapeT, kind, T, Operation>;
  static const unsigned resident = course::resident_blocks(kKernel, ShapeT::kThreads, kShared);
  Arrays<T> in = split_arrays(d_x, n, d_out);
  unsigned tiles = n == 0 ? 0 : tiles_of<ShapeT>(in);
  const unsigned blocks = std::min(tiles, resident);
  if (blocks == 0) return;
  course::TileStates<T> states = memory.next(tiles, stream);
  if constexpr (order == Tiles::by_ticket) {
    course::launch(kKernel, {blocks, ShapeT::kThreads, kShared, stream}, in, tiles, states, op);
  } else {
    void* arguments[] = {&in, &tiles, &states, &op};
    CUDA_CHECK(
        cudaLaunchCooperativeKernel(kKernel, blocks, ShapeT::kThreads, arguments, kShared, stream));
  }
}

/// The best of several on an H200 for elements of 4 and of 8 bytes, and for a GPU whose blocks have less shared memory.
template <class T>
using PipelinedShape = Shape<256, sizeof(T) == 4 ? 16 : 12, 2>;
using SmallerPipelinedShape = Shape<256, 8, 3>;

/// Tiles by ticket, in groups: the same bits in every run.
template <Scan kind = Scan::inclusive, class T, class Operation>
void launch_scan_pipelined(const T* d_x, std::size_t n, T* d_out, Operation op,
                           course::LookBackMemory<T>& memory, cudaStream_t stream = nullptr) {
  static const bool fits =  // with its variables
      course::allows_shared_bytes(PipelinedShape<T>::kPacks * course::kWidestAccess + 1024);
  if (fits) {
    launch_scan_pipelined_shaped<Tiles::by_ticket, InGroups<kPerLane>, PipelinedShape<T>, kind>(
        d_x, n, d_out, op, memory, stream);
  } else {
    launch_scan_pipelined_shaped<Tiles::by_ticket, InGroups<kPerLane>, SmallerPipelinedShape, kind>(
        d_x, n, d_out, op, memory, stream);
  }
}

/// The best of several on an H200 for 2^20 floats: with 114 tiles each SM has work.
using InTurnShape = Shape<384, 6, 2, Stores::once>;

/// Tiles in turn, by a cooperative launch: no ticket is waited for.
template <Scan kind = Scan::inclusive, class T, class Operation>
void launch_scan_in_turn(const T* d_x, std::size_t n, T* d_out, Operation op,
                         course::LookBackMemory<T>& memory, cudaStream_t stream = nullptr) {
  launch_scan_pipelined_shaped<Tiles::in_turn, ByWarp, InTurnShape, kind>(d_x, n, d_out, op, memory,
                                                                          stream);
}

/// The fastest one for each size. Up to 16 MiB the order of the operations depends on the run.
template <Scan kind = Scan::inclusive, class T, class Operation>
void launch_scan(const T* d_x, std::size_t n, T* d_out, Operation op,
                 course::LookBackMemory<T>& memory, cudaStream_t stream = nullptr) {
  constexpr std::size_t kSmallBytes = std::size_t{16} << 20;
  if (n <= kSmallBytes / sizeof(T)) {
    launch_scan_in_turn<kind>(d_x, n, d_out, op, memory, stream);
  } else {
    launch_scan_pipelined<kind>(d_x, n, d_out, op, memory, stream);
  }
}
