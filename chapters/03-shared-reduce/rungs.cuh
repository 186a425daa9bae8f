// The rungs of chapter 03, each once: its launch, and what is known of it. ladder.cu and the
// self-checks read these tables. Every launch sets its output, whatever that held before: where the
// kernel adds to it, zeroing it is part of the price.
#pragma once

#include <algorithm>
#include <course/guarded.cuh>
#include <course/ladder.cuh>
#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "block_scope.cuh"
#include "dynamic_tree.cuh"
#include "forgotten_if.cuh"
#include "grid_stride.cuh"
#include "histogram.cuh"
#include "histogram_cross.cuh"
#include "last_block.cuh"
#include "shared_tree.cuh"
#include "tree_steps.cuh"

using course::Grid;

// ---- sums --------------------------------------------------------------------------------------

/// A rung that leaves the sum of x[0..n-1] in *d_y or, if `on_host`, in workspace.sum.
template <class T>
struct SumRung {
  std::string name, changed;
  void (*launch)(Grid grid, const T* d_x, std::size_t n, T* d_y, Workspace<T>& workspace);
  unsigned threads = kBlockSize;
  std::size_t tile = kBlockSize;  // elements that a block takes at a time: a block for each tile,
  unsigned (*resident)() = nullptr;  // or at most these, which stride over the rest
  bool adds = true;                  // to *d_y, which has to be 0 before
  bool on_host = false;              // the host adds the sums of the blocks
  bool same_bits = false;            // in every run
  unsigned launches = 1;             // the second one has a single block
  unsigned atomics = 1;              // on global memory, per block
  bool shared_atomics = false;       // one per element, in place of the tree
  unsigned barriers = 8;             // per block: the tree of 256 threads has 8 levels

  unsigned blocks(std::size_t n) const {
    return resident ? std::min(blocks_for(n, tile), resident()) : blocks_for(n, tile);
  }
};

/// sum_block_atomic, which has no tree, comes last.
template <class T>
std::vector<SumRung<T>> sum_rungs() {
  using W = Workspace<T>;
  return {
      {.name = "sum_on_host",
       .changed = "one tree per block; the host adds the blocks' sums",
       .launch = [](Grid, const T* d_x, std::size_t n, T*,
                    W& workspace) { workspace.sum = sum_on_host(d_x, n, workspace); },
       .adds = false,
       .on_host = true,
       .same_bits = true,
       .atomics = 0},
      {.name = "sum_shared_tree",
       .changed = "one atomicAdd per block adds them",
       .launch = [](Grid grid, const T* d_x, std::size_t n, T* d_y,
                    W&) { course::launch(sum_shared_tree<T>, grid, d_x, n, d_y); }},
      {.name = "sum_dynamic_tree",
       .changed = "shared memory sized by the launch",
       .launch =
           [](Grid grid, const T* d_x, std::size_t n, T* d_y, W&) {
             grid.shared_bytes = grid.threads.x * sizeof(T);
             course::launch(sum_dynamic_tree<T>, grid, d_x, n, d_y);
           }},
      {.name = "sum_grid_stride",
       .changed = "a thread adds many elements before the tree",
       .launch = [](Grid grid, const T* d_x, std::size_t n, T* d_y,
                    W&) { course::launch(sum_grid_stride<T>, grid, d_x, n, d_y); },
       .resident = course::resident<sum_grid_stride<T>, kBlockSize>},
      {.name = "sum_loads_in_flight",
       .changed = "8 loads per thread before the first addition",
       .launch = [](Grid grid, const T* d_x, std::size_t n, T* d_y,
                    W&) { course::launch(sum_loads_in_flight<T>, grid, d_x, n, d_y); },
       .tile = kTile,
       .resident = course::resident<sum_loads_in_flight<T>, kBlockSize>},
      {.name = "sum_two_kernels",
       .changed = "a second kernel sums the blocks: no atomics",
       .launch = sum_two_kernels<T>,
       .tile = kTile,
       .resident = course::resident<tile_sums<T>, kBlockSize>,
       .adds = false,
       .same_bits = true,
       .launches = 2,
       .atomics = 0},
      {.name = "sum_last_block",
       .changed = "the last block sums them: one launch, no memset",
       .launch =
           [](Grid grid, const T* d_x, std::size_t n, T* d_y, W& workspace) {
             T* const d_parts = workspace.parts.data();
             unsigned* const d_ticket = workspace.ticket.data();
             course::launch(sum_last_block<T>, grid, d_x, n, d_parts, d_ticket, d_y);
           },
       .tile = kTile,
       .resident = course::resident<sum_last_block<T>, kBlockSize>,
       .adds = false,
       .same_bits = true,
       .barriers = 9},  // one to read the ticket; the last block has a second tree, too
      {.name = "sum_block_atomic",
       .changed = "atomicAdd_block on one shared number per block",
       .launch = [](Grid grid, const T* d_x, std::size_t n, T* d_y,
                    W&) { course::launch(sum_block_atomic<T>, grid, d_x, n, d_y); },
       .shared_atomics = true,
       .barriers = 2},
  };
}

/// An array on the device, and what every rung needs to sum it.
template <class T>
struct SumInput {
  explicit SumInput(std::size_t n) : d_x(n), y(1), workspace(n) {}
  explicit SumInput(const std::vector<T>& x) : SumInput(x.size()) { d_x.upload(x); }

  /// Sums x[begin..]. With n == 0 there is no block that could set *d_y.
  void launch(const SumRung<T>& rung, std::size_t begin = 0) {
    const std::size_t n = d_x.size() - begin;
    if (rung.adds || n == 0) course::set_zero(y.data());
    rung.launch({rung.blocks(n), rung.threads}, d_x.data() + begin, n, y.data(), workspace);
  }
  /// What the last launch left; waits for it.
  T result(const SumRung<T>& rung) const {
    return rung.on_host ? workspace.sum : y.download().front();
  }
  T sum(const SumRung<T>& rung, std::size_t begin = 0) {
    launch(rung, begin);
    return result(rung);
  }

  course::DeviceBuffer<T> d_x;
  course::GuardedBuffer<T> y;
  Workspace<T> workspace;
};

// ---- the steps of a tree -----------------------------------------------------------------------

/// A rung that leaves the sums of its blocks in d_sums. What a full block of kBlockSize threads does
/// on its way is known: loads from shared memory, wavefronts of these, and barriers.
template <class T>
struct TreeRung {
  std::string name, changed;
  void (*launch)(Grid grid, const T* d_x, std::size_t n, T* d_sums);
  std::size_t tile;            // elements of a block
  unsigned loads, wavefronts;  // with T = float
  unsigned barriers, warp_barriers = 0;
};

template <class T>
std::vector<TreeRung<T>> tree_rungs() {
  return {
      {"tree_interleaved", "neighbours first; every second thread adds",
       [](Grid grid, const T* d_x, std::size_t n, T* d_sums) {
         course::launch(tree_interleaved<T>, grid, d_x, n, d_sums);
       },
       kBlockSize, 95, 95, 8},
      {"tree_interleaved_dense", "the threads that add are neighbours",
       [](Grid grid, const T* d_x, std::size_t n, T* d_sums) {
         course::launch(tree_interleaved_dense<T>, grid, d_x, n, d_sums);
       },
       kBlockSize, 25, 95, 8},
      {"block_sums", "the elements that are added are neighbours, too",
       [](Grid grid, const T* d_x, std::size_t n, T* d_sums) {
         course::launch(block_sums<T>, grid, d_x, n, d_sums);
       },
       kBlockSize, 25, 25, 8},
      {"tree_first_add", "two loads per thread, added before the tree",
       [](Grid grid, const T* d_x, std::size_t n, T* d_sums) {
         course::launch(tree_first_add<T>, grid, d_x, n, d_sums);
       },
       2 * kBlockSize, 25, 25, 8},
      {"tree_warp_tail", "the last 32 sums by one warp, with __syncwarp()",
       [](Grid grid, const T* d_x, std::size_t n, T* d_sums) {
         course::launch(tree_warp_tail<T>, grid, d_x, n, d_sums);
       },
       2 * kBlockSize, 25, 25, 3, 5},
      {"tree_unrolled", "#pragma unroll: the levels written out",
       [](Grid grid, const T* d_x, std::size_t n, T* d_sums) {
         course::launch(tree_unrolled<T>, grid, d_x, n, d_sums);
       },
       2 * kBlockSize, 25, 25, 3, 5},
  };
}

/// The sum of x[0..n-1] by a TreeRung: the host adds the sums of the blocks.
template <class T>
T tree_sum_of(const TreeRung<T>& rung, const T* d_x, std::size_t n, Workspace<T>& workspace) {
  const unsigned blocks = blocks_for(n, rung.tile);
  if (blocks == 0) return T(0);
  rung.launch({blocks, kBlockSize}, d_x, n, workspace.parts.data());
  std::vector<T> sums(blocks);
  CUDA_CHECK(
      cudaMemcpy(sums.data(), workspace.parts.data(), blocks * sizeof(T), cudaMemcpyDeviceToHost));
  return std::accumulate(sums.begin(), sums.end(), T(0));
}

// ---- sums that are wrong on purpose ------------------------------------------------------------

struct WrongSum {
  SumRung<float> rung;
  course::Expect expect;
  std::string because;
  std::size_t from_n = 0;                                    // with fewer elements it may be right
  double (*exactly)(const std::vector<float>& x) = nullptr;  // the wrong sum, where it is known
};

inline std::vector<WrongSum> wrong_sums() {
  using W = Workspace<float>;
  return {
      {.rung = {.name = "sum_plus_equals",
                .changed = "thread 0 of every block: d_y[0] += s_y[0]",
                .launch = [](Grid grid, const float* d_x, std::size_t n, float* d_y,
                             W&) { course::launch(sum_plus_equals<float>, grid, d_x, n, d_y); }},
       .expect = course::Expect::race_and_wrong_value,
       .because = "another block stores between this block's load and its store",
       .from_n = 32 * kBlockSize},
      {.rung = {.name = "sum_without_barriers",
                .changed = "the tree without its __syncthreads()",
                .launch =
                    [](Grid grid, const float* d_x, std::size_t n, float* d_y, W&) {
                      course::launch(sum_without_barriers<float>, grid, d_x, n, d_y);
                    }},
       .expect = course::Expect::race,
       .because = "a warp may read what another warp has not written yet"},
      {.rung = {.name = "sum_scope_too_small",
                .changed = "atomicAdd_block on an address that all blocks share",
                .launch =
                    [](Grid grid, const float* d_x, std::size_t n, float* d_y, W&) {
                      course::launch(sum_scope_too_small<float>, grid, d_x, n, d_y);
                    }},
       .expect = course::Expect::race,
       .because = "_block promises nothing between blocks",
       .from_n = 2 * kBlockSize},
      {.rung = {.name = "sum_dynamic_tree_192",
                .changed = "the tree with blocks of 192 threads",
                .launch = course::rung_named(sum_rungs<float>(), "sum_dynamic_tree").launch,
                .threads = kOddBlockSize,
                .tile = kOddBlockSize},
       .expect = course::Expect::wrong_value,
       .because = "192 halves to 3, and of 3 the tree adds 2: a third is lost",
       .exactly = sum_of_odd_blocks<float>},
  };
}

// ---- the article's experiment ------------------------------------------------------------------

/// Every block adds the same sum to *d_y, which holds e.start before.
template <class T>
struct ExperimentRung {
  std::string name, changed;
  unsigned per_block;   // atomics
  std::string because;  // the result is wrong, where it is
  void (*launch)(const Experiment<T>& e, T* d_y);
};

template <class T>
std::vector<ExperimentRung<T>> experiment_rungs() {
  return {
      {"add_with_if", "one atomicAdd per block of 128", 1,
       "every addition is rounded: float has 24 bits",
       [](const Experiment<T>& e, T* d_y) {
         course::launch(add_equal_values<T, false>, {e.blocks, kExperimentBlock},
                        static_cast<T>(kExperimentValue), d_y);
       }},
      {"add_without_if", "the `if (threadIdx.x == 0)` forgotten: 128 atomicAdds per block",
       kExperimentBlock,
       sizeof(T) == sizeof(double)
           ? "each block counts 128 times"
           : "each block counts 128 times, until the sum stagnates at 2^32: floats are "
             "512 apart there",
       [](const Experiment<T>& e, T* d_y) {
         course::launch(add_equal_values<T, true>, {e.blocks, kExperimentBlock},
                        static_cast<T>(kExperimentValue), d_y);
       }},
  };
}

// ---- histograms --------------------------------------------------------------------------------

/// A rung that adds the counts of n bytes to d_bins[0..255].
struct HistogramRung {
  std::string name, changed;
  void (*add)(Grid grid, const unsigned char* d_bytes, std::size_t n, unsigned* d_bins);
  unsigned (*resident)();   // blocks, at most
  bool is_private = true;   // each block counts in shared memory
  bool copies = false;      // of the bins: one for each lane of a warp
  unsigned load_bytes = 1;  // that one load brings

  /// Sets d_bins[0..255] to the counts.
  void launch(const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) const {
    course::set_zero(d_bins, kBins);
    add({histogram_blocks(n, resident()), kHistogramBlock}, d_bytes, n, d_bins);
  }
};

inline std::vector<HistogramRung> histogram_rungs() {
  using Bytes = const unsigned char*;
  return {
      {.name = "histogram_global",
       .changed = "256 bins for all blocks",
       .add = [](Grid grid, Bytes d_bytes, std::size_t n,
                 unsigned* d_bins) { course::launch(histogram_global, grid, d_bytes, n, d_bins); },
       .resident = course::resident<histogram_global, kHistogramBlock>,
       .is_private = false},
      {.name = "histogram_shared",
       .changed = "256 bins for each block, in shared memory",
       .add = [](Grid grid, Bytes d_bytes, std::size_t n,
                 unsigned* d_bins) { course::launch(histogram_shared, grid, d_bytes, n, d_bins); },
       .resident = course::resident<histogram_shared, kHistogramBlock>},
      {.name = "histogram_copies",
       .changed = "256 bins for each lane of a block's warps",
       .add = [](Grid grid, Bytes d_bytes, std::size_t n,
                 unsigned* d_bins) { course::launch(histogram_copies, grid, d_bytes, n, d_bins); },
       .resident = course::resident<histogram_copies, kHistogramBlock>,
       .copies = true},
      {.name = "histogram_words",
       .changed = "four bytes per load, four loads in flight",
       .add = [](Grid grid, Bytes d_bytes, std::size_t n,
                 unsigned* d_bins) { course::launch(histogram_words, grid, d_bytes, n, d_bins); },
       .resident = course::resident<histogram_words, kHistogramBlock>,
       .copies = true,
       .load_bytes = 4},
  };
}

namespace detail {
template <class Load, unsigned in_flight, unsigned copies>
HistogramRung histogram_cross_rung() {
  const std::string loads = sizeof(Load) == 1 ? "bytes" : "words";
  return {.name = "histogram_cross_" + loads + "_" + std::to_string(in_flight) + "_" +
                  std::to_string(copies),
          .changed = loads + ", in flight: " + std::to_string(in_flight) +
                     ", copies: " + std::to_string(copies),
          .add =
              [](Grid grid, const unsigned char* d_bytes, std::size_t n, unsigned* d_bins) {
                course::launch(histogram_cross<Load, in_flight, copies>, grid, d_bytes, n, d_bins);
              },
          .resident = course::resident<histogram_cross<Load, in_flight, copies>, kHistogramBlock>,
          .copies = copies > 1,
          .load_bytes = sizeof(Load)};
}
}  // namespace detail

/// Each differs from the one before it in one thing.
inline std::vector<HistogramRung> histogram_cross_rungs() {
  using detail::histogram_cross_rung;
  using Byte = unsigned char;
  using Word = unsigned;
  return {histogram_cross_rung<Byte, 1, 1>(),
          histogram_cross_rung<Byte, kWords, 1>(),
          histogram_cross_rung<Word, kWords, 1>(),
          histogram_cross_rung<Word, 1, 1>(),
          histogram_cross_rung<Word, 1, kCopies>(),
          histogram_cross_rung<Word, kWords, kCopies>(),
          histogram_cross_rung<Byte, kWords, kCopies>(),
          histogram_cross_rung<Byte, 1, kCopies>()};
}

/// All rungs that count bytes, for the proofs.
inline std::vector<HistogramRung> every_histogram() {
  std::vector<HistogramRung> rungs = histogram_rungs();
  for (const HistogramRung& rung : histogram_cross_rungs()) rungs.push_back(rung);
  return rungs;
}
