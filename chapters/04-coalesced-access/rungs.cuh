// The rungs of this chapter, each once. The ladder shows them in this order; selfcheck.cu proves
// them right, and counts.cu counts what they ask of memory.
#pragma once

#include <algorithm>
#include <course/error.cuh>
#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "copy.cuh"
#include "copy_in_flight.cuh"
#include "elementwise.cuh"
#include "grid.cuh"
#include "latency.cuh"
#include "misaligned.cuh"
#include "strided.cuh"
#include "tiles.cuh"
#include "widths.cuh"

// ---- copies ------------------------------------------------------------------------------------

/// What one request of a warp has: floats that it moves, and sectors of 32 bytes that it touches.
struct Request {
  std::size_t floats, sectors;
};

/// A rung that sets d_y[i] = d_x[i] for i < n.
struct CopyRung {
  std::string name;
  std::string changed;    // in the table of copies; empty: it is not there
  std::string more;       // in the table of more work per thread; empty: it is not there
  std::size_t alignment;  // what d_x and d_y must be multiples of, in floats
  Request request;
  void (*launch)(const float* d_x, std::size_t n, float* d_y);
};

inline const std::vector<CopyRung> kCopyRungs = {
    {"copy_one",
     "one float per thread, neighbours side by side",
     "",
     1,
     {32, 4},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_one, {blocks_for(n), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_reversed",
     "each warp reads backwards",
     "",
     1,
     {32, 4},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_reversed, {blocks_for(n), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_pairs",
     "two neighbouring floats per thread, one after the other",
     "",
     1,
     {32, 8},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_pairs, {blocks_for(n / 2 + n % 2), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_pairs_one_branch",
     "one branch for both floats",
     "",
     1,
     {32, 8},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_pairs_one_branch, {blocks_for(n / 2 + n % 2), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_pairs_restrict",
     "__restrict__: both loads come before the first store",
     "",
     1,
     {32, 8},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_pairs_restrict, {blocks_for(n / 2 + n % 2), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_pairs_loads_first",
     "no __restrict__: the source has the loads first",
     "",
     1,
     {32, 8},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_pairs_loads_first, {blocks_for(n / 2 + n % 2), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_grid_stride",
     "a loop: a thread's next float is a grid further on",
     "",
     1,
     {32, 4},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_grid_stride, {resident_blocks_for(n), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_float2",
     "float2: 8 bytes in one access",
     "",
     2,
     {64, 8},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_float2, {blocks_for(n / 2 + n % 2), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_float4",
     "float4: 16 bytes in one access",
     "",
     4,
     {128, 16},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_float4, {blocks_for((n + 3) / 4), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_packs",
     "Pack<float, 4>: the same for any type",
     "one pack per thread, as above",
     4,
     {128, 16},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_packs<float>, {blocks_for((n + 3) / 4), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_words<float>",
     "",
     "",
     1,
     {32, 4},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_words<float>, {blocks_for(n), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_in_flight",
     "",
     "4 packs in flight in each thread",
     4,
     {128, 16},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_in_flight<4>, {tiles_for<4>(n), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_in_flight_once",
     "",
     "with a cache hint: data are used once",
     4,
     {128, 16},
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(copy_in_flight_once<4>, {tiles_for<4>(n), kBlockSize}, d_x, n, d_y);
     }},
    {"copy_in_flight_resident",
     "",
     "4 packs, resident blocks in a loop",
     4,
     {128, 16},
     [](const float* d_x, std::size_t n, float* d_y) {
       const unsigned blocks = std::min(tiles_for<4>(n), resident_blocks_for(n));
       course::launch(copy_in_flight_resident<4>, {blocks, kBlockSize}, d_x, n, d_y);
     }},
};

/// CUDA's own copy, with which the ladder compares the others: its vendor's row.
inline const CopyRung kCudaCopy = {
    "cudaMemcpyAsync",
    "device to device",
    "",
    1,
    {},
    [](const float* d_x, std::size_t n, float* d_y) {
      CUDA_CHECK(cudaMemcpyAsync(d_y, d_x, n * sizeof *d_x, cudaMemcpyDeviceToDevice));
    }};

/// A copy of any type, 16 bytes at a time.
template <class T>
void launch_copy_packs(const T* d_x, std::size_t n, T* d_y) {
  constexpr std::size_t kPack = course::kWidestPack<T>;
  course::launch(copy_packs<T>, {blocks_for((n + kPack - 1) / kPack), kBlockSize}, d_x, n, d_y);
}

// ---- latency -----------------------------------------------------------------------------------

/// chase through so many cells: what a load takes depends on where they are.
struct LatencyRung {
  std::string name, changed;
  std::size_t most_cells;  // 0: as many as n floats take
  course::L2 l2;

  std::size_t cells(std::size_t n) const {
    const std::size_t all = std::max<std::size_t>(n * sizeof(float) / sizeof(Cell), 1);
    return most_cells == 0 ? all : std::min(all, most_cells);
  }
};

inline const std::vector<LatencyRung> kLatencyRungs = {
    {"chase_l1", "8 cells: 992 of 1,000 loads find theirs in the L1", 8, course::L2::warm},
    {"chase_l2", "up to 4 MiB, which the launch before has left in the L2", 1 << 15,
     course::L2::warm},
    {"chase_dram", "the same cells, none of them in the L2", 1 << 15, course::L2::cold},
    {"chase_dram_far", "an array of n floats, not in the L2: also address translation", 0,
     course::L2::cold},
};

// ---- widths ------------------------------------------------------------------------------------

/// copy_words with words of `bytes` bytes. A request of 32 of them touches as many sectors.
struct WidthRung {
  std::string name, changed;
  std::size_t bytes;
  void (*launch)(const unsigned char* d_x, std::size_t words, unsigned char* d_y);
};

template <class W>
WidthRung width_rung() {
  const std::string bytes = std::to_string(sizeof(W));
  return {"copy_words_" + bytes, bytes + (sizeof(W) == 1 ? " byte" : " bytes") + " per lane",
          sizeof(W), [](const unsigned char* d_x, std::size_t words, unsigned char* d_y) {
            course::launch(copy_words<W>, {blocks_for(words), kBlockSize},
                           reinterpret_cast<const W*>(d_x), words, reinterpret_cast<W*>(d_y));
          }};
}

inline const std::vector<WidthRung> kWidthRungs = {
    width_rung<unsigned char>(), width_rung<unsigned short>(), width_rung<unsigned>(),
    width_rung<uint2>(), width_rung<uint4>()};

// ---- strides -----------------------------------------------------------------------------------

/// sum_strided with one stride.
struct StridedRung {
  std::size_t stride;  // in floats
  std::string name, changed;

  /// Sets d_y[0..sums_of_strided(n, stride)-1].
  void launch(const float* d_x, std::size_t n, float* d_y) const {
    launch_sum_strided(d_x, n, stride, d_y);
  }
};

inline StridedRung strided_rung(std::size_t stride) {
  const std::string floats = std::to_string(stride);
  return {stride, "sum_strided_" + floats,
          "a stride of " + floats + (stride == 1 ? " float" : " floats")};
}

inline const std::vector<StridedRung> kStridedRungs = {strided_rung(1),  strided_rung(2),
                                                       strided_rung(4),  strided_rung(8),
                                                       strided_rung(16), strided_rung(32)};

// ---- misaligned starts -------------------------------------------------------------------------

/// A rung that negates n elements from d_x on.
struct NegateRung {
  std::string name;
  std::size_t alignment;  // what d_x must be a multiple of, in floats
  void (*launch)(float* d_x, std::size_t n);
  std::vector<std::string> changed;  // from element 0 on, and from element 1 on, in the ladder
};

inline const std::vector<NegateRung> kNegateRungs = {
    {"negate_one",
     1,
     [](float* d_x, std::size_t n) {
       course::launch(negate_one, {blocks_for(n), kBlockSize}, d_x, n);
     },
     {"one float per thread, in place", "the same from x + 1 on"}},
    {"negate_packs",
     4,
     [](float* d_x, std::size_t n) {
       course::launch(negate_packs, {blocks_for((n + 3) / 4), kBlockSize}, d_x, n);
     },
     {"16 bytes per thread"}},
    {"negate_peeled",
     1,
     [](float* d_x, std::size_t n) {
       course::launch(negate_peeled, {blocks_for((n + 3) / 4), kBlockSize}, d_x, n);
     },
     {"the head peeled off", "the same from x + 1 on"}},
};

/// The two ways to take a word apart: as negate_packs, not in the ladder.
inline const std::vector<NegateRung> kPackForms = {
    {"negate_by_union",
     4,
     [](float* d_x, std::size_t n) {
       course::launch(negate_by_union, {blocks_for((n + 3) / 4), kBlockSize}, d_x, n);
     },
     {}},
    {"negate_by_memcpy",
     4,
     [](float* d_x, std::size_t n) {
       course::launch(negate_by_memcpy, {blocks_for((n + 3) / 4), kBlockSize}, d_x, n);
     },
     {}},
};

// ---- one kernel for every function --------------------------------------------------------------

/// A rung that sets d_z[i] = max(d_x[i] + d_y[i], 0) for i < n.
struct ElementwiseRung {
  std::string name, changed;
  std::size_t alignment;  // what all arrays must be multiples of, in floats
  Request request;
  void (*launch)(const float* d_x, const float* d_y, std::size_t n, float* d_z);
};

inline const std::vector<ElementwiseRung> kElementwiseRungs = {
    {"add_relu_float4",
     "by hand: float4, one per thread and array",
     4,
     {128, 16},
     [](const float* d_x, const float* d_y, std::size_t n, float* d_z) {
       course::launch(add_relu_float4, {blocks_for((n + 3) / 4), kBlockSize}, d_x, d_y, n, d_z);
     }},
    {"elementwise<1>",
     "the template, packs of 1",
     1,
     {32, 4},
     [](const float* d_x, const float* d_y, std::size_t n, float* d_z) {
       launch_elementwise_of<1>(AddRelu{}, n, d_z, d_x, d_y);
     }},
    {"elementwise<4>",
     "the template, packs of 4",
     4,
     {128, 16},
     [](const float* d_x, const float* d_y, std::size_t n, float* d_z) {
       launch_elementwise_of<4>(AddRelu{}, n, d_z, d_x, d_y);
     }},
};

// ---- shared memory -----------------------------------------------------------------------------

/// A rung that reads a matrix of rows x cols floats, stored row by row: it sums each row, or
/// transposes it.
struct MatrixRung {
  std::string name, changed;
  std::size_t load_sectors, store_sectors;  // of a request
  std::size_t passes;                       // of a load from shared memory; 0: there is none
  void (*launch)(const float* d_x, std::size_t rows, std::size_t cols, float* d_y);
};

inline const std::vector<MatrixRung> kRowSumRungs = {
    {"row_sums_direct", "each thread goes along its row", 32, 4, 0,
     [](const float* d_x, std::size_t rows, std::size_t cols, float* d_y) {
       course::launch(row_sums_direct, {blocks_for(rows), kBlockSize}, d_x, rows, cols, d_y);
     }},
    {"row_sums_tile", "32 x 32 tiles in shared memory, read by columns", 4, 4, 32,
     [](const float* d_x, std::size_t rows, std::size_t cols, float* d_y) {
       course::launch(row_sums_of_tiles<kTile>, {blocks_of_tiles(rows), 32 * kWarpsOfTileBlock},
                      d_x, rows, cols, d_y);
     }},
    {"row_sums_padded", "32 x 33 tiles: no bank conflicts", 4, 4, 1,
     [](const float* d_x, std::size_t rows, std::size_t cols, float* d_y) {
       course::launch(row_sums_of_tiles<kTile + 1>, {blocks_of_tiles(rows), 32 * kWarpsOfTileBlock},
                      d_x, rows, cols, d_y);
     }},
};

/// d_y[c * rows + r] = d_x[r * cols + c] for all r < rows and c < cols.
inline const std::vector<MatrixRung> kTransposeRungs = {
    {"transpose_scatter", "reads rows, writes columns", 4, 32, 0,
     [](const float* d_x, std::size_t rows, std::size_t cols, float* d_y) {
       course::launch(transpose_scatter, {matrix_grid(cols, rows), dim3(kTile, kRowsOfBlock)}, d_x,
                      rows, cols, d_y);
     }},
    {"transpose_gather", "reads columns, writes rows", 32, 4, 0,
     [](const float* d_x, std::size_t rows, std::size_t cols, float* d_y) {
       course::launch(transpose_gather, {matrix_grid(rows, cols), dim3(kTile, kRowsOfBlock)}, d_x,
                      rows, cols, d_y);
     }},
};
