// The rungs of this chapter, each once. The ladder shows them in this order; selfcheck.cu, counts.cu
// and claims.cu prove what the lesson says of them.
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

/// A rung that sets *d_y to the dot product of n halves, wherever the arrays begin.
struct PackRung {
  std::string name, changed;
  void (*launch)(const __half* d_a, const __half* d_b, std::size_t n, float* d_y,
                 Workspace& workspace);
};

inline const std::vector<PackRung> kPackRungs = {
    {"dot_pack", "16 bytes per load, several in flight; no memset",
     [](const __half* d_a, const __half* d_b, std::size_t n, float* d_y, Workspace& workspace) {
       launch_dot_pack(d_a, d_b, n, d_y, workspace);
     }}};

/// A rung that only reads both arrays: no dot product takes less. It writes nothing to *d_sink.
struct ReadRung {
  std::string name, changed;
  void (*launch)(const __half* d_a, const __half* d_b, std::size_t n, unsigned* d_sink);
};

inline const std::vector<ReadRung> kReadRungs = {
    {"read_both", "the same loads, and no dot product: the limit", launch_read_both}};

/// dot_half2_any_block, with blocks of `block_size` threads, 1 to 1024.
inline void launch_any_block(const __half* d_a, const __half* d_b, std::size_t n, unsigned blocks,
                             unsigned block_size, float* d_y) {
  course::launch(dot_half2_any_block, {blocks, block_size}, as_pairs(d_a), as_pairs(d_b), n, d_y);
}

// ---- how long a sum in half can be -------------------------------------------------------------

/// n times `value` * 1, by one block of dot_half2_any_block, which adds it to *d_y.
struct Limit {
  static constexpr const char* kName = "dot_half2_any_block";
  std::size_t n;
  float value;
  unsigned block_size;
  double sum;           // what it gives
  std::string changed;  // empty: proved, but not in the ladder
  std::string because;  // why that is wrong; empty: it is right

  void launch(const __half* d_a, const __half* d_b, float* d_y) const {
    launch_any_block(d_a, d_b, n, 1, block_size, d_y);
  }
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

// ---- the way to the device ---------------------------------------------------------------------

/// A rung that copies n halves of the host's memory to the device.
struct CopyRung {
  std::string name, changed;
  bool pinned;  // is that memory
  void launch(const __half* h_x, std::size_t n, __half* d_x) const {
    copy_to_device(h_x, n, d_x, nullptr);
  }
};

inline const std::vector<CopyRung> kCopyRungs = {{"copy_to_device", "from ordinary memory", false},
                                                 {"copy_to_device", "from pinned memory", true}};

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
