// Can more loads be in flight than a block has registers for?
// Rung: scan_bulk (the fastest), from compute capability 9.0 on.
#pragma once

#include <algorithm>
#include <course/bulk.cuh>
#include <course/collectives.cuh>
#include <course/device.cuh>
#include <course/error.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>
#include <cstddef>

#include "one_pass.cuh"
#include "tile.cuh"

/// Shape and number of tiles in shared memory: one that waits for its base, one that is scanned, and the
/// others on their way.
template <unsigned threads, unsigned loads, unsigned blocks, unsigned stages, unsigned per_lane,
          Tiles tiles>
struct BulkShape : Shape<threads, loads, blocks> {
  static constexpr unsigned kStages = stages;
  static constexpr Tiles kTiles = tiles;
  static constexpr unsigned kAllThreads = threads + course::kWarpSize;  // and the manager
  static constexpr std::size_t kTileBytes = threads * loads * course::kWidestAccess;
  static constexpr std::size_t kSharedBytes = stages * kTileBytes;
  using Way = InGroups<per_lane>;
  static_assert(stages >= 3);
};

// Question: who looks back, and who asks for the next tiles, if no thread that scans should wait for it?
// Changes:  one warp more, the manager, asks for tiles in bulk, several of them ahead, and looks back.
// Cost:     a tile goes through shared memory twice; no registers for loads in flight.
template <class ShapeT, Scan kind, class T, class Operation>
__global__ void __launch_bounds__(ShapeT::kAllThreads, ShapeT::kBlocks)
    scan_bulk(Arrays<T> in, unsigned tiles, course::TileStates<T> states, Operation op) {
  using Way = typename ShapeT::Way;
  constexpr unsigned kStages = ShapeT::kStages, kWarps = ShapeT::kWarps;
  extern __shared__ __align__(16) unsigned char s_bytes[];  // kStages tiles
  __shared__ course::Mbarrier s_loaded[kStages];
  __shared__ unsigned s_tile[kStages];  // which tile a stage has
  __shared__ T s_totals[2][kWarps];     // of the tile that is scanned, and of the one that waits
  __shared__ T s_base;
  const T identity = Operation::template identity<T>();
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  const bool is_manager = warp == kWarps;
  const auto stage_of = [&](unsigned stage) {
    return reinterpret_cast<T*>(s_bytes + stage * ShapeT::kTileBytes);
  };
  const auto slot = [&](unsigned stage, unsigned k) {
    return stage_of(stage) + kPack<T> * (first_pack<ShapeT>() + k * course::kWarpSize);
  };
  unsigned draws = 0;
  const auto draw = [&] {
    if constexpr (ShapeT::kTiles == Tiles::by_ticket) {
      return atomicInc(states.d_ticket, tiles + kStages * gridDim.x - 1);
    } else {
      return blockIdx.x + draws++ * gridDim.x;
    }
  };
  // A tile with elements outside of the array is loaded by the threads that scan it.
  const auto ask = [&](unsigned tile, unsigned stage) {
    s_tile[stage] = tile;
    if (tile < tiles && is_inner<ShapeT>(in, tile)) {
      const std::size_t first = std::size_t{tile} * ShapeT::kPacks * kPack<T>;
      course::mbarrier_arrive_expect(&s_loaded[stage], ShapeT::kTileBytes);
      course::bulk_load(stage_of(stage), in.d_x + (first - in.lead), ShapeT::kTileBytes,
                        &s_loaded[stage]);
    } else {
      course::mbarrier_arrive(&s_loaded[stage]);
    }
  };
  const bool asks = threadIdx.x == ShapeT::kThreads;  // the manager's lane 0
  if (asks) {
    for (course::Mbarrier& b : s_loaded) course::mbarrier_init(&b, 1);
  }
  __syncthreads();  // the mbarriers are there
  if (asks) {
    for (unsigned s = 0; s < kStages; ++s) ask(draw(), s);
  }
  // In each step a tile is scanned, and the one of the step before is written. Its stage is free from the
  // next step's first barrier on.
  unsigned waiting = tiles, waiting_stage = 0, stage = 0, parity = 0, turn = 0;
  unsigned steps = 0, drawn[2] = {0, 0};         // in the step before, and in the one before that
  T waiting_total = identity, early = identity;  // the manager's
  while (true) {
    course::mbarrier_wait(&s_loaded[stage], parity);  // the tile is there
    const unsigned tile = s_tile[stage];
    if (tile < tiles && !is_manager) {
      Pack<T> x[ShapeT::kLoads];
      if (is_inner<ShapeT>(in, tile)) {
        for (unsigned k = 0; k < ShapeT::kLoads; ++k) {
          x[k] = course::load_pack<kPack<T>>(slot(stage, k));
        }
      } else {
        load_tile<ShapeT>(in, tile, identity, x);
      }
      const T warp_total = scan_packs_of_warp<kind>(x, op);
      if (lane == 0) s_totals[turn][warp] = warp_total;
      // A thread reads what it has written itself: it needs no barrier.
      for (unsigned k = 0; k < ShapeT::kLoads; ++k) course::store_pack(slot(stage, k), x[k]);
    }
    __syncthreads();  // all warps have left their totals, and have read the tile before the waiting one
    T before = identity;
    if (is_manager) {
      T total = identity;
      if (tile < tiles) {
        total = scan_warps(s_totals[turn], kWarps, 0, op).total;
        if (lane == 0) Way::tell(states, tile, total, op);
      }
      if (asks) {
        if (steps >= 2) ask(drawn[1], (waiting_stage + kStages - 1) % kStages);
        drawn[1] = drawn[0];
        if (tile < tiles) drawn[0] = draw();  // arrives while the warp looks back
      }
      if (waiting < tiles) {
        const T base =
            Way::is_early(waiting) ? early : Way::look_back(states, waiting, waiting_total, op);
        if (lane == 0) s_base = base;
      }
      waiting_total = total;
    } else if (waiting < tiles) {
      before = scan_warps(s_totals[turn ^ 1], kWarps, warp, op).before;
    }
    __syncthreads();  // the base of the waiting tile is known
    if (is_manager && tile < tiles && Way::is_early(tile)) {
      early = Way::look_back(states, tile, waiting_total, op);
    }
    if (waiting < tiles && !is_manager) {
      store_tile<ShapeT>(in, waiting, op(s_base, before), op, [&](unsigned k) {
        return course::load_pack<kPack<T>>(slot(waiting_stage, k));
      });
      course::
          fence_before_bulk();  // the next bulk load into this stage comes after what was done there
    }
    if (tile >= tiles) return;
    waiting = tile, waiting_stage = stage, turn ^= 1, ++steps;
    stage = (stage + 1) % kStages;
    if (stage == 0) parity ^= 1;
  }
}

/// As launch_scan_look_back(). Throws CudaError if the device has no bulk loads: see course::has_clusters().
template <class ShapeT, Scan kind = Scan::inclusive, class T, class Operation>
void launch_scan_bulk_shaped(const T* d_x, std::size_t n, T* d_out, Operation op,
                             course::LookBackMemory<T>& memory, cudaStream_t stream = nullptr) {
  constexpr auto kKernel = scan_bulk<ShapeT, kind, T, Operation>;
  static const unsigned resident =
      course::resident_blocks(kKernel, ShapeT::kAllThreads, ShapeT::kSharedBytes);
  Arrays<T> in = split_arrays(d_x, n, d_out);
  unsigned tiles = n == 0 ? 0 : tiles_of<ShapeT>(in);
  course::TileStates<T> states = memory.next(tiles, stream);
  const unsigned blocks = std::min(tiles, resident);
  if constexpr (ShapeT::kTiles == Tiles::by_ticket) {
    course::launch(kKernel, {blocks, ShapeT::kAllThreads, ShapeT::kSharedBytes, stream}, in, tiles,
                   states, op);
  } else {
    if (blocks == 0) return;
    void* arguments[] = {&in, &tiles, &states, &op};
    CUDA_CHECK(cudaLaunchCooperativeKernel(kKernel, blocks, ShapeT::kAllThreads, arguments,
                                           ShapeT::kSharedBytes, stream));
  }
}

/// The best of several on an H100: for up to 2^22 elements, and for more.
using BulkShapeForSmall = BulkShape<256, 4, 2, 4, 8, Tiles::by_ticket>;
using BulkShapeForLarge = BulkShape<256, 8, 2, 3, 4, Tiles::by_ticket>;
constexpr std::size_t kSmallBytes = std::size_t{16} << 20;

/// As launch_scan_look_back(). A GPU without bulk loads runs scan_pipelined.
template <Scan kind = Scan::inclusive, class T, class Operation>
void launch_scan_bulk(const T* d_x, std::size_t n, T* d_out, Operation op,
                      course::LookBackMemory<T>& memory, cudaStream_t stream = nullptr) {
  static const bool has_bulk = course::has_clusters();
  if (!has_bulk) {
    launch_scan_pipelined<InGroups<kPerLane>, PipelinedShape, kind>(d_x, n, d_out, op, memory,
                                                                    stream);
  } else if (n <= kSmallBytes / sizeof(T)) {
    launch_scan_bulk_shaped<BulkShapeForSmall, kind>(d_x, n, d_out, op, memory, stream);
  } else {
    launch_scan_bulk_shaped<BulkShapeForLarge, kind>(d_x, n, d_out, op, memory, stream);
  }
}
