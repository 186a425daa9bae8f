// What does a row cost if one instruction adds all of it?
// Rungs: rows_red (that of chapter 08), rows_bulk, and its two halves: rows_loads_only, rows_adds_only.
//
//   for r in 0..rows-1, c in 0..width-1:  table[index[r]][c] += source[r][c]
//
// Both are row-major without gaps, and begin at a multiple of 16 bytes; a row has a multiple of 16 bytes, at
// most kTileOfRowsBytes. An index is an int, 0 <= index[r] < the table's rows.
#pragma once

#include <algorithm>
#include <course/bulk.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/ptx.cuh>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

/// What every rung gets. T is float, __half or __nv_bfloat16.
template <class T>
struct Rows {
  const T* d_source;   // rows x width
  const int* d_index;  // rows
  std::size_t rows;
  unsigned width;
  T* d_table;
};

/// Rung 0, in double.
template <class T>
std::vector<double> rows_reference(const std::vector<T>& source, const std::vector<int>& index,
                                   std::size_t width, std::size_t table_rows) {
  std::vector<double> table(table_rows * width, 0.0);
  for (std::size_t i = 0; i < source.size(); ++i) {
    table[static_cast<std::size_t>(index[i / width]) * width + i % width] +=
        static_cast<double>(static_cast<float>(source[i]));
  }
  return table;
}

constexpr unsigned kRedBlock = 256;  // threads

// Question: how fast are the rows of chapter 08, which add 16 bytes with one instruction?
// Changes:  nothing yet: a thread loads 16 bytes, and adds them with one RED.
// Cost:     rows * width / 8 REDs, as many loads, and a register for each byte on its way.
__global__ void __launch_bounds__(kRedBlock) rows_red(Rows<__half> in, unsigned packs) {
  const std::size_t i = std::size_t{blockIdx.x} * kRedBlock + threadIdx.x;
  if (i >= in.rows * packs) return;
  const uint4 bits = course::load_16_bytes<course::CacheHint::read_once>(in.d_source + 8 * i);
  __half2 eight[4];
  memcpy(static_cast<void*>(eight), &bits, sizeof bits);
  const auto row = static_cast<std::size_t>(in.d_index[i / packs]);
  __half* const target = in.d_table + row * in.width + i % packs * 8;
  course::red_add_v4(reinterpret_cast<__half2*>(target), eight);
}

constexpr unsigned kRowsOfTile = 96;              // at most: one for each thread of the block
constexpr unsigned kTileOfRowsBytes = 12 * 1024;  // per stage
constexpr unsigned kRowStages = 3;

/// Which part of the work a kernel does.
enum class Work { both, loads, adds };

// Question: can a row move without passing through registers at all?
// Changes:  a tile of rows is loaded by one instruction of one thread, a row added by one of each thread.
// Cost:     two instructions per row and tile. The L2 cache has as much to do as before.
template <class T, Work work>
__global__ void __launch_bounds__(kRowsOfTile) rows_bulk(Rows<T> in, unsigned rows_of_tile) {
  __shared__ __align__(128) unsigned char s_tiles[kRowStages][kTileOfRowsBytes];
  __shared__ course::Mbarrier s_loaded[kRowStages];
  const std::size_t tiles = (in.rows + rows_of_tile - 1) / rows_of_tile;
  const auto rows_of = [&](std::size_t tile) {
    const std::size_t left = in.rows - tile * rows_of_tile;
    return left < rows_of_tile ? static_cast<unsigned>(left) : rows_of_tile;
  };
  const auto load = [&](std::size_t tile, unsigned stage) {
    if (work == Work::adds) return;
    const auto bytes = static_cast<unsigned>(rows_of(tile) * in.width * sizeof(T));
    course::mbarrier_arrive_expect(&s_loaded[stage], bytes);
    course::bulk_load(s_tiles[stage], in.d_source + tile * rows_of_tile * in.width, bytes,
                      &s_loaded[stage]);
  };
  if (threadIdx.x == 0) {
    for (course::Mbarrier& b : s_loaded) course::mbarrier_init(&b, 1);
    for (unsigned s = 0; s + 1 < kRowStages; ++s) {
      const std::size_t tile = blockIdx.x + std::size_t{s} * gridDim.x;
      if (tile < tiles) load(tile, s);
    }
  }
  __syncthreads();  // the mbarriers are there
  unsigned stage = 0, parity = 0;
  for (std::size_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const bool has_row = threadIdx.x < rows_of(tile);
    const std::size_t r = tile * rows_of_tile + threadIdx.x;
    const auto target = has_row ? static_cast<std::size_t>(in.d_index[r]) : 0;
    if (work != Work::adds) course::mbarrier_wait(&s_loaded[stage], parity);  // the tile is there
    if (work != Work::loads && has_row) {
      const T* const s_row = reinterpret_cast<const T*>(s_tiles[stage]) + threadIdx.x * in.width;
      course::bulk_add(in.d_table + target * in.width, s_row, in.width);
    }
    course::bulk_commit();
    course::bulk_wait_read<1>();  // this thread's row of the tile before has been read
    __syncthreads();              // and so have those of all others: that tile may be overwritten
    const std::size_t next = tile + std::size_t{kRowStages - 1} * gridDim.x;
    if (threadIdx.x == 0 && next < tiles) load(next, (stage + kRowStages - 1) % kRowStages);
    stage = (stage + 1) % kRowStages;
    if (stage == 0) parity ^= 1;
  }
  course::bulk_wait_read<0>();  // shared memory stays until the last row has been read
}

/// Adds every source row to its row of the table.
inline void launch_rows_red(const Rows<__half>& in) {
  const unsigned packs = in.width / 8;
  const auto blocks = static_cast<unsigned>((in.rows * packs + kRedBlock - 1) / kRedBlock);
  course::launch(rows_red, {blocks, kRedBlock}, in, packs);
}

/// The same, or a part of it. Throws std::invalid_argument for a width that does not fit.
template <class T, Work work = Work::both>
void launch_rows_bulk(const Rows<T>& in) {
  const std::size_t row = in.width * sizeof(T);
  if (in.rows == 0 || row == 0) return;
  if (row % 16 != 0 || row > kTileOfRowsBytes) {
    throw std::invalid_argument("rows_bulk: a row has a multiple of 16 bytes, at most 12 KiB");
  }
  const auto rows_of_tile =
      static_cast<unsigned>(std::min<std::size_t>(kRowsOfTile, kTileOfRowsBytes / row));
  const std::size_t tiles = (in.rows + rows_of_tile - 1) / rows_of_tile;
  const auto blocks = static_cast<unsigned>(std::min<std::size_t>(tiles, 6 * course::sm_count()));
  course::launch(rows_bulk<T, work>, {blocks, kRowsOfTile}, in, rows_of_tile);
}
