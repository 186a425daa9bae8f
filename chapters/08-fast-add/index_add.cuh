// The same for whole rows: the gradients of an embedding. Every word of a text adds its row of
// numbers to the row of the table that belongs to that word.
// Rungs: rows_reference, rows_half (rows_scalar), rows_fast, rows_half2, rows_red_v4, rows_float.
//
//   for r in 0..rows-1, c in 0..width-1:  table[index[r]][c] += source[r][c]
//
// Both are row-major without gaps. An index is an int, 0 <= index[r] < the table's rows.
#pragma once

#include <cuda_fp16.h>

#include <course/launch.cuh>
#include <course/pack.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fast_atomic_add.cuh"
#include "grid.cuh"

/// Rung 0, in double.
inline std::vector<double> rows_reference(const std::vector<__half>& source,
                                          const std::vector<int>& index, std::size_t width,
                                          std::size_t table_rows) {
  std::vector<double> table(table_rows * width, 0.0);
  for (std::size_t r = 0; r < index.size(); ++r) {
    double* const row = table.data() + static_cast<std::size_t>(index[r]) * width;
    const __half* const from = source.data() + r * width;
    for (std::size_t c = 0; c < width; ++c) row[c] += static_cast<double>(__half2float(from[c]));
  }
  return table;
}

// A row belongs to a team of 1, 2, 4, ... or 32 neighbouring threads of one warp, which go through
// it side by side. A power of two, so that no thread divides by the width: row = thread >> team_bits.

/// The smallest team for rows of `items` packs: 2^team_bits threads.
inline unsigned team_bits_for(std::size_t items) {
  unsigned bits = 0;
  while (bits < 5 && (std::size_t{1} << bits) < items) ++bits;
  return bits;
}

/// The row of the calling thread, and the thread's place in the row's team.
struct Member {
  std::size_t row;
  unsigned place, team;
};
__device__ __forceinline__ Member team_member(unsigned team_bits) {
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const unsigned team = 1u << team_bits;
  return {thread >> team_bits, threadIdx.x & (team - 1), team};
}

/// What every rung gets.
struct Rows {
  const __half* d_source;  // rows x width
  const int* d_index;      // rows
  std::size_t rows, width;
};

/// Blocks that give each row a team of 2^team_bits threads; none if there is nothing to add.
inline unsigned blocks_for_teams(const Rows& in, unsigned team_bits) {
  return in.width == 0 ? 0 : blocks_for(in.rows << team_bits);
}

/// The element of the table that the row's first one is added to.
__device__ __forceinline__ std::size_t target_of(const Rows& in, std::size_t row) {
  return static_cast<std::size_t>(in.d_index[row]) * in.width;
}

// Question: what does a row cost, half by half?
// Changes:  a team for each row; lane by lane an atomicAdd(__half*), or (float*) for a float table.
// Cost:     a compare-and-swap loop per half, and each word has two halves: neighbouring lanes
//           contend.
template <class T>
__global__ void rows_scalar(Rows in, unsigned team_bits, T* d_table) {
  const Member me = team_member(team_bits);
  if (me.row >= in.rows) return;
  T* const target = d_table + target_of(in, me.row);
  const __half* const source = in.d_source + me.row * in.width;
  for (std::size_t c = me.place; c < in.width; c += me.team) {
    atomicAdd(target + c, static_cast<T>(source[c]));
  }
}

/// Adds every source row to its row of the table. Any width, any start.
template <class T>
void launch_rows_scalar(const Rows& in, T* d_table, std::size_t, cudaStream_t stream) {
  const unsigned bits = team_bits_for(in.width);
  course::launch(rows_scalar<T>, {blocks_for_teams(in, bits), kBlockSize, 0, stream}, in, bits,
                 d_table);
}

// Question: what does it cost with one instruction per half?
// Changes:  fast_atomic_add.
// Cost:     two REDs per word, one for each of its halves; no loop.
__global__ void rows_fast(Rows in, unsigned team_bits, __half* d_table, std::size_t table_rows) {
  const Member me = team_member(team_bits);
  if (me.row >= in.rows) return;
  const std::size_t target = target_of(in, me.row), length = table_rows * in.width;
  const __half* const source = in.d_source + me.row * in.width;
  for (std::size_t c = me.place; c < in.width; c += me.team) {
    fast_atomic_add(d_table, target + c, length, source[c]);
  }
}

/// Adds every source row to its row of the table. Any width, any start.
inline void launch_rows_fast(const Rows& in, __half* d_table, std::size_t table_rows,
                             cudaStream_t stream) {
  const unsigned bits = team_bits_for(in.width);
  course::launch(rows_fast, {blocks_for_teams(in, bits), kBlockSize, 0, stream}, in, bits, d_table,
                 table_rows);
}

/// True if every row of both arrays begins at a multiple of N halves.
template <int N>
bool rows_are_packs(const Rows& in, const void* table) {
  const auto aligned = [](const void* p) {
    return reinterpret_cast<std::uintptr_t>(p) % (N * sizeof(__half)) == 0;
  };
  return in.width % N == 0 && aligned(in.d_source) && aligned(table);
}

// Question: there is a value to add to the neighbour, too. Why add -0.0?
// Changes:  a lane takes two columns, and adds both with one RED.
// Cost:     half of the REDs. Only if rows begin at multiples of 4 bytes.
__global__ void rows_half2(Rows in, unsigned team_bits, __half* d_table) {
  const Member me = team_member(team_bits);
  if (me.row >= in.rows) return;
  __half* const target = d_table + target_of(in, me.row);
  const __half* const source = in.d_source + me.row * in.width;
  for (std::size_t c = 2 * me.place; c < in.width; c += 2 * me.team) {
    const course::Pack<__half, 2> two = course::load_pack_once<2>(source + c);
    course::red_add(reinterpret_cast<__half2*>(target + c), pair_of(two.elem[0], two.elem[1]));
  }
}

/// Adds every source row to its row of the table. Odd widths and odd starts go to rows_fast.
inline void launch_rows_half2(const Rows& in, __half* d_table, std::size_t table_rows,
                              cudaStream_t stream) {
  if (!rows_are_packs<2>(in, d_table)) return launch_rows_fast(in, d_table, table_rows, stream);
  const unsigned bits = team_bits_for(in.width / 2);
  course::launch(rows_half2, {blocks_for_teams(in, bits), kBlockSize, 0, stream}, in, bits,
                 d_table);
}

// Question: how many halves can one instruction add?
// Changes:  a lane takes eight columns: a load of 16 bytes, a RED of 16 bytes.
// Cost:     an eighth of the REDs from sm_90 on; before, the loads alone are wider.
__global__ void rows_red_v4(Rows in, unsigned team_bits, __half* d_table) {
  const Member me = team_member(team_bits);
  if (me.row >= in.rows) return;
  __half* const target = d_table + target_of(in, me.row);
  const __half* const source = in.d_source + me.row * in.width;
  for (std::size_t c = 8 * me.place; c < in.width; c += 8 * me.team) {
    const course::Pack<__half, 8> eight = course::load_pack_once<8>(source + c);
    __half2 pairs[4];
    for (int k = 0; k < 4; ++k) pairs[k] = pair_of(eight.elem[2 * k], eight.elem[2 * k + 1]);
    course::red_add_v4(reinterpret_cast<__half2*>(target + c), pairs);
  }
}

/// Adds every source row to its row of the table. Widths that are no multiple of 8, and starts that
/// are no multiple of 16 bytes, go to rows_half2.
inline void launch_rows_red_v4(const Rows& in, __half* d_table, std::size_t table_rows,
                               cudaStream_t stream) {
  if (!rows_are_packs<8>(in, d_table)) return launch_rows_half2(in, d_table, table_rows, stream);
  const unsigned bits = team_bits_for(in.width / 8);
  course::launch(rows_red_v4, {blocks_for_teams(in, bits), kBlockSize, 0, stream}, in, bits,
                 d_table);
}

// Question: what does it cost to sum in float?
// Changes:  the table has floats: a load of four halves, a RED of four floats.
// Cost:     twice the REDs of rows_red_v4, twice the table.
__global__ void rows_float(Rows in, unsigned team_bits, float* d_table) {
  const Member me = team_member(team_bits);
  if (me.row >= in.rows) return;
  float* const target = d_table + target_of(in, me.row);
  const __half* const source = in.d_source + me.row * in.width;
  for (std::size_t c = 4 * me.place; c < in.width; c += 4 * me.team) {
    const course::Pack<__half, 4> four = course::load_pack_once<4>(source + c);
    course::red_add(reinterpret_cast<float4*>(target + c),
                    make_float4(__half2float(four.elem[0]), __half2float(four.elem[1]),
                                __half2float(four.elem[2]), __half2float(four.elem[3])));
  }
}

/// Adds every source row to its row of the table. Widths that are no multiple of 4, sources that do
/// not begin at one of 8 bytes and tables that do not begin at one of 16 go float by float.
inline void launch_rows_float(const Rows& in, float* d_table, std::size_t table_rows,
                              cudaStream_t stream) {
  const bool whole = in.width % 4 == 0 && reinterpret_cast<std::uintptr_t>(in.d_source) % 8 == 0 &&
                     reinterpret_cast<std::uintptr_t>(d_table) % 16 == 0;
  if (!whole) return launch_rows_scalar(in, d_table, table_rows, stream);
  const unsigned bits = team_bits_for(in.width / 4);
  course::launch(rows_float, {blocks_for_teams(in, bits), kBlockSize, 0, stream}, in, bits,
                 d_table);
}
