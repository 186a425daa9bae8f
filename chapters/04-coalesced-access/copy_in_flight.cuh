// Does more work per thread keep the memory busier than one pack? On an H200 it does not:
// copy_packs is the fastest copy.
// Rungs: copy_in_flight, copy_in_flight_once, copy_in_flight_resident.
// All of them: d_y[i] = d_x[i] for i < n; d_x and d_y must be multiples of 16.
#pragma once

#include <algorithm>
#include <course/pack.cuh>
#include <cstddef>

#include "grid.cuh"

constexpr std::size_t kFloatsOfPack = 4;  // 16 bytes

/// Packs that a block moves with kInFlight loads of each of its threads.
template <int kInFlight>
constexpr std::size_t kPacksOfTile = std::size_t{kBlockSize} * kInFlight;

/// Copies one tile: the thread's packs are a block apart, so that each access of a warp is 512
/// bytes in a row. All loads come before the first store: none of them waits for another one.
template <int kInFlight, bool once>
__device__ __forceinline__ void copy_tile(const float* d_x, std::size_t packs, float* d_y,
                                          std::size_t tile) {
  const std::size_t first = tile * kPacksOfTile<kInFlight> + threadIdx.x;
  if (first + (kInFlight - 1) * kBlockSize < packs) {
    course::Pack<float, 4> pack[kInFlight];
    for (int k = 0; k < kInFlight; ++k) {
      const float* const from = d_x + kFloatsOfPack * (first + k * kBlockSize);
      pack[k] = once ? course::load_pack_once<4>(from) : course::load_pack<4>(from);
    }
    for (int k = 0; k < kInFlight; ++k) {
      float* const to = d_y + kFloatsOfPack * (first + k * kBlockSize);
      if constexpr (once) {
        course::store_pack_once(to, pack[k]);
      } else {
        course::store_pack(to, pack[k]);
      }
    }
  } else {  // the last tile is shorter
    for (int k = 0; k < kInFlight; ++k) {
      const std::size_t i = first + k * kBlockSize;
      if (i >= packs) break;
      course::store_pack(d_y + kFloatsOfPack * i, course::load_pack<4>(d_x + kFloatsOfPack * i));
    }
  }
}

/// The elements after the last whole pack, by the first threads of the grid.
__device__ __forceinline__ void copy_tail(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::size_t whole = n - n % kFloatsOfPack;
  if (i < n - whole) d_y[whole + i] = d_x[whole + i];
}

/// Blocks for one tile each, at least one.
template <int kInFlight>
unsigned tiles_for(std::size_t n) {
  const std::size_t tiles =
      (n / kFloatsOfPack + kPacksOfTile<kInFlight> - 1) / kPacksOfTile<kInFlight>;
  return static_cast<unsigned>(std::max<std::size_t>(tiles, 1));
}

// Question: what if a thread requests several packs before it waits for the first?
// Changes:  kInFlight loads, then kInFlight stores. A block owns one tile, whole in memory.
// Cost:     the same sectors, fewer threads; kInFlight * 4 registers more in each.
template <int kInFlight>
__global__ void copy_in_flight(const float* d_x, std::size_t n, float* d_y) {
  copy_tile<kInFlight, false>(d_x, n / kFloatsOfPack, d_y, blockIdx.x);
  copy_tail(d_x, n, d_y);
}

// Question: does it help to tell the caches that nothing is used twice?
// Changes:  loads and stores carry a hint, __ldcs and __stcs: the data may be evicted first.
// Cost:     the same instructions with two more letters, LDG.E.EF and STG.E.EF.
template <int kInFlight>
__global__ void copy_in_flight_once(const float* d_x, std::size_t n, float* d_y) {
  copy_tile<kInFlight, true>(d_x, n / kFloatsOfPack, d_y, blockIdx.x);
  copy_tail(d_x, n, d_y);
}

// Question: does it help if blocks stay, and take one tile after the other?
// Changes:  as many blocks as the GPU holds; block b owns tiles b, b + gridDim.x, and so on.
// Cost:     no blocks to start and end; the loads of the next tile wait for this one's stores.
template <int kInFlight>
__global__ void copy_in_flight_resident(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t packs = n / kFloatsOfPack;
  for (std::size_t tile = blockIdx.x; tile * kPacksOfTile<kInFlight> < packs; tile += gridDim.x) {
    copy_tile<kInFlight, true>(d_x, packs, d_y, tile);
  }
  copy_tail(d_x, n, d_y);
}
