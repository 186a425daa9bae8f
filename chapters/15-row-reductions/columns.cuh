// Which threads sum the elements of a column?
// Rungs: sum_columns_by_thread, sum_columns.
//
//   y[c] = the sum of column c; T is float, __half or __nv_bfloat16, the sums are floats.
#pragma once

#include <algorithm>
#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>
#include <course/ptx.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <vector>

#include "teams.cuh"

/// Rung 0, in double.
template <class T>
std::vector<double> column_sums_reference(const std::vector<T>& x, std::size_t width) {
  std::vector<double> sums(width);
  for (std::size_t i = 0; i < x.size(); ++i) {
    sums[i % width] += static_cast<double>(static_cast<float>(x[i]));
  }
  return sums;
}

// Question: are columns harder than rows?
// Changes:  nothing yet: a thread for each column. Neighbouring lanes have neighbouring columns.
// Cost:     full sectors, but no more threads than columns, and one load in flight for each.
template <class T>
__global__ void sum_columns_by_thread(Rows<T, float> in) {
  const std::size_t c = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (c >= in.width) return;
  float sum = 0;
  for (std::size_t r = 0; r < in.rows; ++r) sum += static_cast<float>(in.d_x[r * in.width + c]);
  in.d_y[c] = sum;
}

/// What is measured and not derived: a block of kBlock threads has a tile of `lanes` packs of columns, and takes
/// `loads` rows for each of its threads at a time.
template <unsigned lanes, unsigned loads, unsigned block>
struct TileOfColumns {
  static constexpr unsigned kLanes = lanes;  // packs of 16 bytes; 32 at most
  static constexpr unsigned kLoads = loads;  // in flight per thread
  static constexpr unsigned kBlock = block;  // threads
  static constexpr unsigned kStrips =
      block / lanes;  // rows that a block reads with one load of its threads
};

/// What sum_columns works in. Launches that use the same one must follow each other, as in one stream.
struct ColumnWorkspace {
  static constexpr std::size_t kMostParts = std::size_t{1} << 22;
  course::LookBackMemory<float> parts;  // a sum for each block of a tile and each column
};

/// Loads a part that another block tells; waits until it is there.
__device__ __forceinline__ float wait_for_part(const course::TileStates<float>& parts,
                                               unsigned part, course::TileState<float> seen) {
  while (seen.told == course::Told::nothing) seen = parts.look_at(part);
  return seen.value;
}

// Question: how do thousands of threads share a column?
// Changes:  packs of 16 bytes; a block sums some of the rows of a tile of columns, its lanes meet by shuffles and its warps in
//           shared memory. If several blocks share a tile, the last one waits for the sums of the others, and adds all in order.
// Cost:     one read; a row of sums for each block. The same bits in every run.
template <class TileT, bool kShared, class T>
__global__ void __launch_bounds__(TileT::kBlock)
    sum_columns(Rows<T, float> in, course::TileStates<float> parts) {
  constexpr unsigned kLanes = TileT::kLanes, kStrips = TileT::kStrips, kLoads = TileT::kLoads;
  constexpr unsigned kColumns = kLanes * kPack<T>;
  constexpr unsigned kWarps = TileT::kBlock / course::kWarpSize;
  constexpr unsigned kGroups = TileT::kBlock / kColumns;  // threads of a column, at the end
  static_assert(kLanes <= course::kWarpSize && TileT::kBlock % kColumns == 0);
  __shared__ float s_warps[kWarps][kColumns], s_groups[kGroups][kColumns];
  const unsigned lane = threadIdx.x % kLanes, strip = threadIdx.x / kLanes;
  const std::size_t pack = std::size_t{blockIdx.x} * kLanes + lane, packs = in.width / kPack<T>;
  const std::size_t step = std::size_t{gridDim.y} * kStrips;
  float sum[kPack<T>] = {};
  for (std::size_t first = std::size_t{blockIdx.y} * kStrips + strip;
       first < in.rows && pack < packs; first += kLoads * step) {
    uint4 bits[kLoads];
    for (unsigned k = 0; k < kLoads; ++k) {
      const std::size_t row = first + k * step;
      bits[k] = row < in.rows ? course::load_16_bytes<course::CacheHint::read_once>(
                                    in.d_x + row * in.width + pack * kPack<T>)
                              : uint4{0, 0, 0, 0};
    }
    for (unsigned k = 0; k < kLoads; ++k) {
      float value[kPack<T>];
      to_floats<T>(bits[k], value);
      for (unsigned e = 0; e < kPack<T>; ++e) sum[e] += value[e];
    }
  }
  for (unsigned e = 0; e < kPack<T>; ++e) {
    for (unsigned distance = kLanes; distance < course::kWarpSize; distance *= 2) {
      sum[e] += __shfl_xor_sync(course::kAllLanes, sum[e], static_cast<int>(distance));
    }
    // Lanes of the same columns have the same sums: one of them writes.
    if (threadIdx.x % course::kWarpSize < kLanes) {
      s_warps[threadIdx.x / course::kWarpSize][lane * kPack<T> + e] = sum[e];
    }
  }
  __syncthreads();  // the sums of all warps are there
  const std::size_t tile = std::size_t{blockIdx.x} * kColumns;
  const unsigned c = threadIdx.x % kColumns, group = threadIdx.x / kColumns;
  const bool has_column = tile + c < in.width;
  // The sum of what the threads of a column have.
  const auto add_groups = [&](float some) {
    s_groups[group][c] = some;
    __syncthreads();  // that of all groups is there
    float all = 0;
    for (unsigned g = 0; g < kGroups; ++g) all += s_groups[g][c];
    return all;
  };
  float some = 0;
  for (unsigned w = group; w < kWarps; w += kGroups) some += s_warps[w][c];
  float all = add_groups(some);
  const bool writes = group == 0 && has_column;
  if constexpr (kShared) {
    const auto part_of = [&](unsigned b) { return static_cast<unsigned>(b * in.width + tile + c); };
    if (writes) parts.tell(part_of(blockIdx.y), course::Told::aggregate, all);
    if (blockIdx.y + 1 < gridDim.y) return;
    constexpr unsigned kAtOnce = 8;  // parts that a thread looks at
    some = 0;
    for (unsigned first = group; first < gridDim.y && has_column; first += kAtOnce * kGroups) {
      course::TileState<float> seen[kAtOnce];
#pragma unroll
      for (unsigned k = 0; k < kAtOnce; ++k) {
        const unsigned b = first + k * kGroups;
        if (b < gridDim.y) seen[k] = parts.look_at(part_of(b));
      }
#pragma unroll
      for (unsigned k = 0; k < kAtOnce; ++k) {
        const unsigned b = first + k * kGroups;
        if (b < gridDim.y) some += wait_for_part(parts, part_of(b), seen[k]);
      }
    }
    __syncthreads();  // all have read what the groups had
    all = add_groups(some);
  }
  if (writes) in.d_y[tile + c] = all;
}

template <class T>
void launch_sum_columns_by_thread(const Rows<T, float>& in) {
  constexpr unsigned kBlock = 256;  // threads
  course::launch(sum_columns_by_thread<T>, {course::blocks_for(in.width, kBlock), kBlock}, in);
}

/// Sets in.d_y[c] to the sum of column c, with this tile: as many blocks as are resident, if there are rows for them. Of a
/// tile's blocks, two or more, one waits: the others find room, and end.
template <class TileT, class T>
void launch_sum_columns_tiled(const Rows<T, float>& in, ColumnWorkspace& workspace) {
  const std::size_t tiles = (in.width / kPack<T> + TileT::kLanes - 1) / TileT::kLanes;
  if (tiles == 0) return;
  constexpr std::size_t kRound = std::size_t{TileT::kStrips} * TileT::kLoads;  // rows
  const std::size_t parts =
      std::min({course::resident<sum_columns<TileT, true, T>, TileT::kBlock>() / tiles,
                (in.rows + kRound - 1) / kRound, workspace.kMostParts / in.width});
  const auto launch = [&](auto kernel, std::size_t blocks, unsigned told) {
    const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(blocks));
    course::launch(kernel, {grid, TileT::kBlock}, in, workspace.parts.next(told));
  };
  if (parts > 1) {
    launch(sum_columns<TileT, true, T>, parts, static_cast<unsigned>(parts * in.width));
  } else {
    launch(sum_columns<TileT, false, T>, 1, 0);
  }
}

/// Sets in.d_y[c] to the sum of column c, for rows of any length and start. The same bits in every run.
template <class T>
void launch_sum_columns(const Rows<T, float>& in, ColumnWorkspace& workspace) {
  if (!fits_packs<T>(in.d_x, in.width)) return launch_sum_columns_by_thread(in);
  const std::size_t packs = in.width / kPack<T>;
  if (packs <= 16) {
    launch_sum_columns_tiled<TileOfColumns<8, 8, 1024>>(in, workspace);
  } else if (packs <= 4096) {
    launch_sum_columns_tiled<TileOfColumns<16, 8, 1024>>(in, workspace);
  } else {
    launch_sum_columns_tiled<TileOfColumns<32, 8, 512>>(in, workspace);
  }
}
