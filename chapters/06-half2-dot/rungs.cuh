// The rungs of this chapter, each once. The ladder shows them in this order; selfcheck.cu, counts.cu
// and claims.cu prove what the lesson says of them. dot_pack, read_both and the copies, of which
// there is one each, have their launchers in their own headers.
#pragma once

#include <cuda_fp16.h>

#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "dot_float.cuh"
#include "dot_half.cuh"
#include "dot_pack.cuh"
#include "grid.cuh"
#include "inputs.cuh"
#include "pinned.cuh"
#include "prediction.cuh"
#include "read_both.cuh"
#include "wrong.cuh"

inline const __half2* as_pairs(const __half* d_x) { return reinterpret_cast<const __half2*>(d_x); }

// ---- dot products ------------------------------------------------------------------------------

/// A rung that adds the dot product of n halves to *d_y. Both arrays begin at a multiple of 4 bytes.
struct DotRung {
  std::string name, changed;
  std::size_t width;  // halves that a load has: 1, or 2 in a half2
  bool in_half;       // sums in half, so that predicted_dot() says the result; else in float
  void (*launch)(const __half* d_a, const __half* d_b, std::size_t n, unsigned blocks, float* d_y);

  /// Its grid, unless a test chooses another one. None for n == 0.
  unsigned blocks(std::size_t n) const { return n == 0 ? 0 : blocks_for(n / width); }
  /// What it adds for whole numbers a and b, in units of a product, in that many blocks.
  long long sum(const SmallNumbers& a, const SmallNumbers& b, unsigned blocks) const {
    return in_half && !a.empty() ? predicted_dot(a, b, width, blocks) : exact_dot(a, b);
  }
};

inline const std::vector<DotRung> kDotRungs = {
    {"dot_half_scalar", "__hfma on single halves, summed up in half", 1, true,
     [](const __half* d_a, const __half* d_b, std::size_t n, unsigned blocks, float* d_y) {
       course::launch(dot_half_scalar, {blocks, kBlockSize}, d_a, d_b, n, d_y);
     }},
    {"dot_half2_operators", "* and + on two halves at once", 2, true,
     [](const __half* d_a, const __half* d_b, std::size_t n, unsigned blocks, float* d_y) {
       course::launch(dot_half2_operators, {blocks, kBlockSize}, as_pairs(d_a), as_pairs(d_b), n,
                      d_y);
     }},
    {"dot_half2_intrinsics", "__hfma2 and __hadd2: the same instructions", 2, true,
     [](const __half* d_a, const __half* d_b, std::size_t n, unsigned blocks, float* d_y) {
       course::launch(dot_half2_intrinsics, {blocks, kBlockSize}, as_pairs(d_a), as_pairs(d_b), n,
                      d_y);
     }},
    {"dot_half2_products", "__hmul2, summed up in float", 2, false,
     [](const __half* d_a, const __half* d_b, std::size_t n, unsigned blocks, float* d_y) {
       course::launch(dot_half2_products, {blocks, kBlockSize}, as_pairs(d_a), as_pairs(d_b), n,
                      d_y);
     }},
    {"dot_float", "products in float, too", 2, false,
     [](const __half* d_a, const __half* d_b, std::size_t n, unsigned blocks, float* d_y) {
       course::launch(dot_float, {blocks, kBlockSize}, as_pairs(d_a), as_pairs(d_b), n, d_y);
     }},
};

/// dot_half2_any_block, with blocks of `block_size` threads, 1 to 1024.
inline void launch_any_block(const __half* d_a, const __half* d_b, std::size_t n, unsigned blocks,
                             unsigned block_size, float* d_y) {
  course::launch(dot_half2_any_block, {blocks, block_size}, as_pairs(d_a), as_pairs(d_b), n, d_y);
}

// ---- how long a sum in half can be -------------------------------------------------------------

/// n times `value` * 1, by one block of dot_half2_any_block.
struct Limit {
  std::size_t n;
  float value;
  unsigned block_size;
  double sum;           // what it gives
  std::string changed;  // empty: proved, but not in the ladder
  std::string because;  // why that is wrong; empty: it is right
};

inline const std::vector<Limit> kLimits = {
    // A block of 128: 2048 in each lane is the last sum that can be one more.
    {4096, 1.0f, 128, 4096, "2048 in each lane", ""},
    {4098, 1.0f, 128, 4096, "2049 in each lane", "2049 has 12 bits: it is rounded to 2048"},
    // One thread: 2048 + 1 is 2048, however often.
    {4096, 1.0f, 1, 4096, "", ""},
    {4098, 1.0f, 1, 4096, "", "each lane stagnates"},
    {3 * 4096, 1.0f, 1, 4096, "one thread", "each lane stagnates at 2048: 2048 + 1 is 2048"},
    {20'000, 1.0f, 1, 4096, "", "each lane stagnates"},
    // The value does not matter: after 2048 equal ones it stagnates.
    {20'000, 0.125f, 1, 512, "", "each lane stagnates"},
    // 65504 is the largest half, and 65520 is rounded to infinity.
    {2 * 128 * 511, 1.0f, 128, 2.0 * 128 * 511, "65,408 in each lane; 65,536 would be infinite",
     ""},
    {2 * 128 * 512, 1.0f, 128, std::numeric_limits<double>::infinity(), "", "65,536 in each lane"},
    {2 * 128, 512.0f, 128, std::numeric_limits<double>::infinity(), "", "128 times 512 as well"},
};

// ---- wrong on purpose --------------------------------------------------------------------------

/// A kernel with the article's index, in the article's launch.
struct WrongIndexRung {
  std::string name, changed;
  void (*launch)(const __half* d_a, const __half* d_b, float* d_y);  // of kArticlePairs pairs
};

inline const std::vector<WrongIndexRung> kWrongIndexRungs = {
    {"dot_wrong_index_operators", "threadIdx.x + blockDim.x + blockIdx.x",
     [](const __half* d_a, const __half* d_b, float* d_y) {
       course::launch(dot_wrong_index_operators, {kArticleBlocks, kBlockSize}, as_pairs(d_a),
                      as_pairs(d_b), kArticlePairs, d_y);
     }},
    {"dot_wrong_index_intrinsics", "the same with intrinsics: it agrees",
     [](const __half* d_a, const __half* d_b, float* d_y) {
       course::launch(dot_wrong_index_intrinsics, {kArticleBlocks, kBlockSize}, as_pairs(d_a),
                      as_pairs(d_b), kArticlePairs, d_y);
     }},
};
