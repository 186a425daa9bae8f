// The rungs of this chapter, each once. The ladder shows them in this order; selfcheck.cu, races.cu,
// counts.cu and claims.cu prove what the lesson says of them.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <array>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/pack.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "add_half.cuh"
#include "add_half2.cuh"
#include "article.cuh"
#include "cas16.cuh"
#include "grid.cuh"
#include "half_bits.cuh"
#include "min_half.cuh"
#include "pack.cuh"
#include "packing_ways.cuh"
#include "stagnation.cuh"
#include "table.cuh"

using namespace half_checks;

// ---- many numbers into a table -----------------------------------------------------------------

/// Where a table may begin, in elements past a multiple of 64 bytes, and how many atomics the rung
/// makes there for each number; 0: that depends on the schedule.
struct TableStart {
  std::size_t offset;
  double atomics;
};

/// A rung that adds each x[i] to its cell of a table of `rows` rows, a power of two. The table has
/// whole words. x begins at a multiple of 16 bytes.
template <class T>
struct TableRung {
  std::string name, changed;  // `changed` is empty: proved, but not in the ladder
  void (*launch)(const T* d_x, std::size_t n, std::size_t rows, T* d_table);
  std::vector<TableStart> starts;
  bool loops = false;  // by compare-and-swap: slow where many threads share a cell
};

template <class T>
std::vector<TableRung<T>> table_rungs();

template <class T, int N>
void launch_add_packs(const T* d_x, std::size_t n, std::size_t rows, T* d_table) {
  static_assert(kRow % N == 0, "a pack lies in one row");
  course::launch(add_packs<T, N>, {blocks_for((n + N - 1) / N), kBlockSize}, d_x, n, rows - 1,
                 d_table);
}

template <>
inline std::vector<TableRung<__half>> table_rungs() {
  return {
      {"add_half_cas16",
       "a loop of atomicCAS(unsigned short*)",
       [](const __half* d_x, std::size_t n, std::size_t rows, __half* d_table) {
         course::launch(add_half_cas16, {blocks_for(n), kBlockSize}, d_x, n, rows - 1, d_table);
       },
       {{0, 0}, {1, 0}},
       true},
      {"add_half_cas",
       "a loop of atomicCAS on the word",
       [](const __half* d_x, std::size_t n, std::size_t rows, __half* d_table) {
         course::launch(add_half_cas, {blocks_for(n), kBlockSize}, d_x, n, rows - 1, d_table);
       },
       {{0, 0}, {1, 0}},
       true},
      {"add_half",
       "atomicAdd(__half*)",
       [](const __half* d_x, std::size_t n, std::size_t rows, __half* d_table) {
         course::launch(add_half, {blocks_for(n), kBlockSize}, d_x, n, rows - 1, d_table);
       },
       {{0, 1}, {1, 1}}},
      {"add_padded_pair",
       "atomicAdd(__half2*), the other half gets -0.0",
       [](const __half* d_x, std::size_t n, std::size_t rows, __half* d_table) {
         course::launch(add_padded_pair, {blocks_for(n), kBlockSize}, d_x, n, rows - 1, d_table);
       },
       {{0, 1}, {1, 1}}},
      {"add_half2",
       "atomicAdd(__half2*), two numbers",
       [](const __half* d_x, std::size_t n, std::size_t rows, __half* d_table) {
         course::launch(add_half2, {blocks_for((n + 1) / 2), kBlockSize}, d_x, n, rows - 1,
                        d_table);
       },
       {{0, 0.5}, {2, 0.5}}},
      {"red_half2",
       "red.f16x2, no return value",
       [](const __half* d_x, std::size_t n, std::size_t rows, __half* d_table) {
         course::launch(red_half2, {blocks_for((n + 1) / 2), kBlockSize}, d_x, n, rows - 1,
                        d_table);
       },
       {{0, 0.5}, {2, 0.5}}},
      {"red_half8",
       "red.v4.f16x2, eight numbers",
       [](const __half* d_x, std::size_t n, std::size_t rows, __half* d_table) {
         course::launch(red_half8, {course::blocks_for(n, kRow * kBlockSize), kBlockSize}, d_x, n,
                        rows - 1, d_table);
       },
       {{0, 0.125}, {1, 0.625}, {2, 0.5}, {3, 0.625}, {4, 0.5}, {8, 0.125}}},
      {"add_packs<__half, 1>", "", launch_add_packs<__half, 1>, {{0, 1}, {1, 1}}},
      {"add_packs<__half, 2>", "", launch_add_packs<__half, 2>, {{0, 0.5}, {2, 0.5}}},
      {"add_packs<__half, 8>", "", launch_add_packs<__half, 8>, {{0, 1}, {8, 1}}},
  };
}

template <>
inline std::vector<TableRung<__nv_bfloat16>> table_rungs() {
  return {{"add_packs<__nv_bfloat16, 1>",
           "atomicAdd(__nv_bfloat16*)",
           launch_add_packs<__nv_bfloat16, 1>,
           {{0, 1}, {1, 1}}},
          {"add_packs<__nv_bfloat16, 2>",
           "atomicAdd(__nv_bfloat162*)",
           launch_add_packs<__nv_bfloat16, 2>,
           {{0, 0.5}, {2, 0.5}}}};
}

template <>
inline std::vector<TableRung<float>> table_rungs() {
  return {{"add_packs<float, 1>",
           "float: one number per atomic",
           launch_add_packs<float, 1>,
           {{0, 1}, {1, 1}}},
          {"add_packs<float, 4>",
           "float: red.v4.f32, four numbers",
           launch_add_packs<float, 4>,
           {{0, 0.25}, {4, 0.25}}}};
}

/// The rungs that lower the cells to the smallest x that they get.
inline std::vector<TableRung<__half>> minimum_rungs() {
  return {
      {"min_half",
       "atomic_update_half with a minimum",
       [](const __half* d_x, std::size_t n, std::size_t rows, __half* d_table) {
         course::launch(min_half, {blocks_for(n), kBlockSize}, d_x, n, rows - 1, d_table);
       },
       {{0, 0}, {1, 0}},
       true},
      {"min_half2_cas",
       "a loop of atomicCAS for two numbers",
       [](const __half* d_x, std::size_t n, std::size_t rows, __half* d_table) {
         course::launch(min_half2_cas, {blocks_for((n + 1) / 2), kBlockSize}, d_x, n, rows - 1,
                        d_table);
       },
       {{0, 0}, {2, 0}},
       true},
      {"min_half2",
       "red.min.v2.f16, two numbers",
       [](const __half* d_x, std::size_t n, std::size_t rows, __half* d_table) {
         course::launch(min_half2, {blocks_for((n + 1) / 2), kBlockSize}, d_x, n, rows - 1,
                        d_table);
       },
       {{0, 0.5}, {2, 0.5}}},
      {"min_half8",
       "red.min.v4.f16x2, eight numbers",
       [](const __half* d_x, std::size_t n, std::size_t rows, __half* d_table) {
         course::launch(min_half8, {course::blocks_for(n, kRow * kBlockSize), kBlockSize}, d_x, n,
                        rows - 1, d_table);
       },
       {{0, 0.125}, {1, 0}, {2, 0.5}, {3, 0}, {4, 0.5}, {8, 0.125}}},
  };
}

// ---- the article's benchmark -------------------------------------------------------------------

/// A rung that adds the dot product of two arrays of the article's number to a pair of halves.
struct ArticleRung {
  std::string name, changed;
  void (*launch)(const __half* d_a, const __half* d_b, std::size_t n, __half* d_y);
  /// What the pair holds after it, bit by bit, if it held (0.0, second).
  std::array<Bits, 2> (*predict)(std::size_t n, Bits second);
  std::vector<Bits> seconds;      // what the second half may hold before
  bool odd_depends = false;       // with an odd n the schedule decides, unless n is 1
  bool sums_both_halves = false;  // the dot product is the sum of the pair
};

/// The prediction for `count` additions of the article's product, or of `value`.
inline __half in_steps(std::size_t count, __half value = article_product()) {
  return add_in_steps(__half(0.0f), value, count).sum;
}

inline const std::vector<ArticleRung> kArticleRungs = {
    {"dot_each<__half>",
     "one atomicAdd(__half*) per thread: the article's kernel 0",
     [](const __half* d_a, const __half* d_b, std::size_t n, __half* d_y) {
       course::launch(dot_each<__half>, {blocks_for(n), kBlockSize}, d_a, d_b, n, d_y);
     },
     [](std::size_t n, Bits second) {
       return std::array{bits_of(in_steps(n)), second};
     },
     {0, 0x7D01}},
    {.name = "dot_pack",
     .changed = "two products per thread, added to both halves of a pair: its kernel 1",
     .launch =
         [](const __half* d_a, const __half* d_b, std::size_t n, __half* d_y) {
           course::launch(dot_pack, {blocks_for(n), kBlockSize}, d_a, d_b, n,
                          reinterpret_cast<course::Pack<__half, 2>*>(d_y));
         },
     .predict =
         [](std::size_t n, Bits) {
           const __half product = article_product();
           __half sum = in_steps(n / 2, __half(2.0f * static_cast<float>(product)));
           if (n == 1) sum = product;
           return std::array{bits_of(sum), bits_of(sum)};
         },
     .seconds = {0},
     .odd_depends = true},
    {"dot_padded",
     "the product and -0.0 as a pair: the core of its kernel 2",
     [](const __half* d_a, const __half* d_b, std::size_t n, __half* d_y) {
       course::launch(dot_padded, {blocks_for(n), kBlockSize}, d_a, d_b, n, d_y);
     },
     [](std::size_t n, Bits second) {
       return std::array{bits_of(in_steps(n)), second};
     },
     {0, kMinusZero}},
    {.name = "dot_two_lanes",
     .changed = "each half of the pair has products of its own",
     .launch =
         [](const __half* d_a, const __half* d_b, std::size_t n, __half* d_y) {
           course::launch(dot_two_lanes, {blocks_for((n + 1) / 2), kBlockSize}, d_a, d_b, n,
                          reinterpret_cast<__half2*>(d_y));
         },
     .predict =
         [](std::size_t n, Bits second) {  // a single product has no partner: the second half stays
           const Bits odd = n < 2 ? second : bits_of(in_steps(n / 2));
           return std::array{bits_of(in_steps((n + 1) / 2)), odd};
         },
     .seconds = {0, kMinusZero},
     .sums_both_halves = true},
};

/// A rung that adds the dot product of two arrays of doubles to *d_y.
struct DoubleRung {
  std::string name, changed;
  void (*launch)(const double* d_a, const double* d_b, std::size_t n, double* d_y);
};

inline const std::vector<DoubleRung> kDoubleRungs = {
    {"dot_each<double>", "kernel 0 in double",
     [](const double* d_a, const double* d_b, std::size_t n, double* d_y) {
       course::launch(dot_each<double>, {blocks_for(n), kBlockSize}, d_a, d_b, n, d_y);
     }}};

// ---- counting ----------------------------------------------------------------------------------

/// n threads add 1 to one number.
template <class T>
struct OnesRung {
  std::string name, changed;
  float most;  // where the sum stagnates
  void launch(std::size_t n, T* d_y) const {
    course::launch(add_ones<T>, {blocks_for(n), kBlockSize}, n, d_y);
  }
};

/// Calls f with the rung of each type.
template <class F>
void for_each_ones_rung(F f) {
  f(OnesRung<float>{"add_ones<float>", "stagnates at 2^24", 0x1p24f});
  f(OnesRung<__half>{"add_ones<__half>", "stagnates at 2^11", 0x1p11f});
  f(OnesRung<__nv_bfloat16>{"add_ones<__nv_bfloat16>", "stagnates at 2^8", 0x1p8f});
}

/// n threads add 1 and -1 in turn to d_y[0]: exact in any order for n up to 4096. The pair around it
/// has to be there.
struct AlternatingRung {
  std::string name, changed;
  void (*launch)(std::size_t n, __half* d_y);
};

inline const std::vector<AlternatingRung> kAlternatingRungs = {
    {"alternate<Way::cas>", "a loop of atomicCAS on the word",
     [](std::size_t n, __half* d_y) {
       course::launch(alternate<Way::cas>, {blocks_for(n), kBlockSize}, n, d_y);
     }},
    {"alternate<Way::atomic_add>", "atomicAdd(__half*)",
     [](std::size_t n, __half* d_y) {
       course::launch(alternate<Way::atomic_add>, {blocks_for(n), kBlockSize}, n, d_y);
     }},
    {"alternate<Way::padded_pair>", "atomicAdd(__half2*), the other half gets -0.0",
     [](std::size_t n, __half* d_y) {
       course::launch(alternate<Way::padded_pair>, {blocks_for(n), kBlockSize}, n, d_y);
     }},
};

// ---- what shares an atomic ---------------------------------------------------------------------

/// A rung that adds x[i] and its square to bin i % bins; `bins` is a power of two.
struct MomentsRung {
  std::string name, changed;
  bool side_by_side;  // d_sums: (sum, sum of squares) of each bin; else all sums, then all squares
  void (*launch)(const __half* d_x, std::size_t n, std::size_t bins, __half* d_sums);
};

inline const std::vector<MomentsRung> kMomentsRungs = {
    {"moments_apart", "two atomicAdd(__half*)", false,
     [](const __half* d_x, std::size_t n, std::size_t bins, __half* d_sums) {
       __half* const d_squares = d_sums + bins;
       course::launch(moments_apart, {blocks_for(n), kBlockSize}, d_x, n, bins - 1, d_sums,
                      d_squares);
     }},
    {"moments_pair", "two results, one atomicAdd(__half2*)", true,
     [](const __half* d_x, std::size_t n, std::size_t bins, __half* d_sums) {
       auto* const d_bins = reinterpret_cast<__half2*>(d_sums);
       course::launch(moments_pair, {blocks_for(n), kBlockSize}, d_x, n, bins - 1, d_bins);
     }},
};

/// A rung that adds the sum of each column of a matrix, row by row in memory, to d_sums[column]. At
/// most 65,535 times 64 rows, as many as a grid has blocks in y; an even number of columns.
struct ColumnsRung {
  std::string name, changed;
  void (*launch)(const __half* d_x, std::size_t rows, std::size_t columns, __half* d_sums);
};

/// The grid for `columns` columns, or pairs of them.
inline dim3 columns_grid(std::size_t rows, std::size_t columns) {
  return dim3(blocks_for(columns), course::blocks_for(rows, kRowsOfBlock));
}

inline const std::vector<ColumnsRung> kColumnsRungs = {
    {"columns_apart", "one thread per column",
     [](const __half* d_x, std::size_t rows, std::size_t columns, __half* d_sums) {
       course::launch(columns_apart, {columns_grid(rows, columns), kBlockSize}, d_x, rows, columns,
                      d_sums);
     }},
    {"columns_pair", "one thread per two columns: half of the loads, half of the atomics",
     [](const __half* d_x, std::size_t rows, std::size_t columns, __half* d_sums) {
       const std::size_t pairs = columns / 2;
       course::launch(columns_pair, {columns_grid(rows, pairs), kBlockSize},
                      reinterpret_cast<const __half2*>(d_x), rows, pairs,
                      reinterpret_cast<__half2*>(d_sums));
     }},
};

// ---- wrong on purpose --------------------------------------------------------------------------

/// n threads add 1, thread i to d_y[i % 2]: two halves of a word. Some of it is lost.
struct OwnBitsRung {
  std::string name, changed, because;
  void (*launch)(std::size_t n, __half* d_y);
};

inline const std::vector<OwnBitsRung> kOwnBitsRungs = {
    {"add_half_own_bits", "a loop that ends when its own 16 bits are as assumed",
     "if only the neighbour has changed, atomicCAS has stored nothing",
     [](std::size_t n, __half* d_y) {
       course::launch(add_half_own_bits, {blocks_for(n), kBlockSize}, n, d_y);
     }}};

/// One thread that guesses what *d_y is adds `value` to it. *d_turns becomes the turns of its loop,
/// which has `most_turns` of them where it would never end.
struct ByValueRung {
  std::string name, changed, because;
  void (*launch)(__half guess, __half value, int most_turns, __half* d_y, int* d_turns);
};

inline const std::vector<ByValueRung> kByValueRungs = {
    {"add_half_by_value", "a loop that ends when halves are equal",
     "a NaN equals nothing: without the limit of 1000 it would never end",
     [](__half guess, __half value, int most_turns, __half* d_y, int* d_turns) {
       course::launch(add_half_by_value, {1, 1}, guess, value, most_turns, d_y, d_turns);
     }}};
