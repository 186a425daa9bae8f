// How often must a scan read and write everything?
// Rungs: scan_packs (twice and twice), scan_three_kernels (twice and once).
#pragma once

#include <course/buffer.cuh>
#include <course/launch.cuh>
#include <cstddef>

#include "levels.cuh"
#include "tile.cuh"

/// The best of several on an H200.
using TileShape = Shape<kBlockSize, 8, 3>;

/// Loads the packs of one tile, and scans them as if nothing were before it.
template <class ShapeT, Scan kind, class T, class Operation>
__device__ __forceinline__ Warps<T> load_and_scan(const Arrays<T>& in, std::size_t tile,
                                                  Operation op, T* s_totals,
                                                  Pack<T> (&x)[ShapeT::kLoads]) {
  const unsigned warp = threadIdx.x / course::kWarpSize;
  load_tile<ShapeT>(in, tile, Operation::template identity<T>(), x);
  const T total = scan_packs_of_warp<kind>(x, op);
  if (threadIdx.x % course::kWarpSize == 0) s_totals[warp] = total;
  __syncthreads();  // all warps have left their totals
  return scan_warps(s_totals, ShapeT::kWarps, warp, op);
}

/// Replaces the tiles' totals by their scan. One block takes tile after tile.
template <class ShapeT, Scan kind, class T, class Operation>
__global__ void __launch_bounds__(ShapeT::kThreads)
    scan_totals(T* d_totals, unsigned count, Operation op) {
  __shared__ T s_totals[ShapeT::kWarps];
  const Arrays<T> in = {d_totals, d_totals, count, 0, true, 0};
  T before = Operation::template identity<T>();
  for (unsigned tile = 0; tile * ShapeT::kPacks * kPack<T> < count; ++tile) {
    Pack<T> x[ShapeT::kLoads];
    const Warps<T> warps = load_and_scan<ShapeT, kind>(in, tile, op, s_totals, x);
    store_tile<ShapeT>(in, tile, op(before, warps.before), op, [&](unsigned k) { return x[k]; });
    before = op(before, warps.total);
    __syncthreads();  // the warps' totals have been read
  }
}

using TotalsShape = Shape<1024, 2, 1>;

/// Memory for the tiles' totals; grows. Launches that share it come one after another.
template <class T>
using Totals = course::DeviceBuffer<T>;

// Question: can a thread have more than one element?
// Changes:  eight packs of 16 bytes per thread: a block scans 8192 elements, and the totals of 2^26 of them
//           are one array that one block scans.
// Cost:     three kernels, and still everything is read and written twice.
template <class ShapeT>
__global__ void __launch_bounds__(ShapeT::kThreads, ShapeT::kBlocks)
    scan_packs(Arrays<float> in, float* d_totals) {
  __shared__ float s_totals[ShapeT::kWarps];
  Pack<float> x[ShapeT::kLoads];
  const Warps<float> warps =
      load_and_scan<ShapeT, Scan::inclusive>(in, blockIdx.x, course::Sum{}, s_totals, x);
  store_tile<ShapeT>(in, blockIdx.x, warps.before, course::Sum{}, [&](unsigned k) { return x[k]; });
  if (threadIdx.x == 0) d_totals[blockIdx.x] = warps.total;
}

/// out[i] = x[0] + ... + x[i]. d_x and d_out are aligned to their elements, no more; they may be the same.
template <class ShapeT = TileShape>
void launch_scan_packs(const float* d_x, std::size_t n, float* d_out, Totals<float>& totals,
                       cudaStream_t stream = nullptr) {
  if (n == 0) return;
  constexpr unsigned kItems = ShapeT::kPacks * kPack<float>;
  const Arrays<float> in = split_arrays(d_x, n, d_out);
  const unsigned tiles = tiles_of<ShapeT>(in);
  if (totals.size() < tiles) totals = Totals<float>(tiles);
  course::launch(scan_packs<ShapeT>, {tiles, ShapeT::kThreads, 0, stream}, in, totals.data());
  course::launch(scan_totals<TotalsShape, Scan::inclusive, float, course::Sum>,
                 {1, TotalsShape::kThreads, 0, stream}, totals.data(), tiles, course::Sum{});
  course::launch(add_blocks_before, {tiles, kBlockSize, 0, stream}, d_out, n, totals.data(), kItems,
                 in.lead);
}

// Question: must what was written be read again?
// Changes:  the first kernel sums the tiles, and writes their totals alone ...
// Cost:     everything is read once more, and written once.
template <class ShapeT, class T, class Operation>
__global__ void __launch_bounds__(ShapeT::kThreads, ShapeT::kBlocks)
    reduce_tiles(Arrays<T> in, T* d_totals, Operation op) {
  __shared__ T s_totals[ShapeT::kWarps];
  Pack<T> x[ShapeT::kLoads];
  const Warps<T> warps = load_and_scan<ShapeT, Scan::inclusive>(in, blockIdx.x, op, s_totals, x);
  if (threadIdx.x == 0) d_totals[blockIdx.x] = warps.total;
}

// Question: who writes the sums?
// Changes:  ... and the third one scans each tile, now that what is before it is known.
// Cost:     a second read. The order of the additions is fixed: the same bits in every run.
template <class ShapeT, Scan kind, class T, class Operation>
__global__ void __launch_bounds__(ShapeT::kThreads, ShapeT::kBlocks)
    scan_tiles(Arrays<T> in, const T* d_before, Operation op) {
  __shared__ T s_totals[ShapeT::kWarps];
  Pack<T> x[ShapeT::kLoads];
  const Warps<T> warps = load_and_scan<ShapeT, kind>(in, blockIdx.x, op, s_totals, x);
  store_tile<ShapeT>(in, blockIdx.x, op(d_before[blockIdx.x], warps.before), op,
                     [&](unsigned k) { return x[k]; });
}

/// out[i] = op(x[0], ..., x[i]), or without x[i]. d_x and d_out are aligned to their elements, no more;
/// they may be the same array. op is associative, up to rounding, and need not commute.
template <class ShapeT = TileShape, Scan kind = Scan::inclusive, class T, class Operation>
void launch_scan_three_kernels(const T* d_x, std::size_t n, T* d_out, Operation op,
                               Totals<T>& totals, cudaStream_t stream = nullptr) {
  if (n == 0) return;
  const Arrays<T> in = split_arrays(d_x, n, d_out);
  const unsigned tiles = tiles_of<ShapeT>(in);
  if (totals.size() < tiles) totals = Totals<T>(tiles);
  course::launch(reduce_tiles<ShapeT, T, Operation>, {tiles, ShapeT::kThreads, 0, stream}, in,
                 totals.data(), op);
  course::launch(scan_totals<TotalsShape, Scan::exclusive, T, Operation>,
                 {1, TotalsShape::kThreads, 0, stream}, totals.data(), tiles, op);
  course::launch(scan_tiles<ShapeT, kind, T, Operation>, {tiles, ShapeT::kThreads, 0, stream}, in,
                 totals.data(), op);
}
