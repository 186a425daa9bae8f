// The rungs of this chapter, each named once. ladder.cu times them, selfcheck.cu proves them right,
// counts.cu and claims.cu show what else is said of them.
#pragma once

#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "aggregate.cuh"
#include "filter.cuh"
#include "ordered.cuh"
#include "pipelined.cuh"
#include "tiles.cuh"
#include "wrong.cuh"

using course::Grid;
using course::rung_named;

/// A grid with a thread for each of n elements.
inline Grid one_each(std::size_t n) { return {blocks_for(n), kBlockSize}; }

// ---- filters ------------------------------------------------------------------------------------

/// Keeps the positive numbers of x[0..n-1]: appends them to d_out, adds their number to *d_count;
/// or, if `in_order`, writes them to d_out in their order and sets *d_count.
struct FilterRung {
  std::string name, changed;
  std::function<void(Grid each, const int* d_x, std::size_t n, int* d_out, Count* d_count)> start;
  std::size_t tile;          // numbers for which it makes one atomic; 1: one for each kept number
  bool in_order = false;     // then it makes no atomic, or one that keeps nothing, for a tile
  std::string because = {};  // why it is wrong, if it is wrong on purpose

  void launch(const int* d_x, std::size_t n, int* d_out, Count* d_count) const {
    start(one_each(n), d_x, n, d_out, d_count);
  }
};

/// What the filters that keep the order need besides is kept as long as the function.
template <unsigned loads = kOrderedLoads>
auto two_passes() {
  return [counts = std::make_shared<TileCounts>()](Grid each, const int* d_x, std::size_t n,
                                                   int* d_out, Count* d_count) {
    filter_two_passes<loads>(d_x, n, d_out, d_count, *counts, each.stream);
  };
}
template <unsigned loads = kOrderedLoads>
auto looks_back() {
  return [memory = std::make_shared<LookBack>()](Grid each, const int* d_x, std::size_t n,
                                                 int* d_out, Count* d_count) {
    launch_filter_look_back<loads>(d_x, n, d_out, d_count, *memory, each.stream);
  };
}

template <unsigned loads = kPipelinedLoads>
auto pipelined() {
  return [memory = std::make_shared<LookBack>()](Grid each, const int* d_x, std::size_t n,
                                                 int* d_out, Count* d_count) {
    launch_filter_pipelined<loads>(d_x, n, d_out, d_count, *memory, each.stream);
  };
}

inline std::vector<FilterRung> filter_rungs() {
  // clang-format off
  return {
      {"filter_plain", "one atomicAdd per kept number",
       [](Grid each, const int* d_x, std::size_t n, int* d_out, Count* d_count) {
         course::launch(filter_plain, each, d_x, n, d_out, d_count);
       }, 1},
      {"filter_block_counter", "the block counts in shared memory",
       [](Grid each, const int* d_x, std::size_t n, int* d_out, Count* d_count) {
         course::launch(filter_block_counter, each, d_x, n, d_out, d_count);
       }, kBlockSize},
      {"filter_agg_inc", "one atomic per warp: __activemask()",
       [](Grid each, const int* d_x, std::size_t n, int* d_out, Count* d_count) {
         course::launch(filter_agg_inc, each, d_x, n, d_out, d_count);
       }, course::kWarpSize},
      {"filter_coalesced", "the same by coalesced_threads()",
       [](Grid each, const int* d_x, std::size_t n, int* d_out, Count* d_count) {
         course::launch(filter_coalesced, each, d_x, n, d_out, d_count);
       }, course::kWarpSize},
      {"filter_block_scan", "one atomic per block, by a prefix sum",
       [](Grid each, const int* d_x, std::size_t n, int* d_out, Count* d_count) {
         course::launch(filter_block_scan, each, d_x, n, d_out, d_count);
       }, kBlockSize},
      {"filter_tile_direct", "one atomic for 6144 numbers", launch_filter_tile_direct<>,
       kTileItems<kTileLoads>},
      {"filter_tile_staged", "gathered in shared memory, 16-byte stores", launch_filter_tile_staged<>,
       kTileItems<kTileLoads>},
      {"filter_two_passes", "keeps the order: count, scan, write", two_passes(),
       kTileItems<kOrderedLoads>, true},
      {"filter_look_back", "keeps the order in one pass", looks_back(), kTileItems<kOrderedLoads>,
       true},
      {"filter_pipelined", "loads and counts the next tile before it looks back", pipelined(),
       kTileItems<kPipelinedLoads>, true},
      {"filter_all_call", "atomic_agg_inc before the if",
       [](Grid each, const int* d_x, std::size_t n, int* d_out, Count* d_count) {
         course::launch(filter_all_call, each, d_x, n, d_out, d_count);
       }, course::kWarpSize, false, "lanes that want no place get one: the count is n"},
  };
  // clang-format on
}

// ---- several counters ---------------------------------------------------------------------------

/// Adds to d_counts[k] how often d_key[0..n-1] holds k, and gives each number its place.
struct PlacesRung {
  std::string name, changed;
  void (*start)(Grid each, const int* d_key, std::size_t n, Count* d_counts, Count* d_places);
  bool aggregates = true;    // one atomic for each different key of a warp; otherwise per number
  std::string because = {};  // why it is wrong, if it is wrong on purpose

  void launch(const int* d_key, std::size_t n, Count* d_counts, Count* d_places) const {
    start(one_each(n), d_key, n, d_counts, d_places);
  }
};

inline const std::vector<PlacesRung> kPlacesRungs = {
    {"places_plain", "one atomicAdd per number",
     [](Grid each, const int* d_key, std::size_t n, Count* d_counts, Count* d_places) {
       course::launch(places_plain, each, d_key, n, d_counts, d_places);
     },
     false},
    {"places_keyed", "one per different key of a warp",
     [](Grid each, const int* d_key, std::size_t n, Count* d_counts, Count* d_places) {
       course::launch(places_keyed, each, d_key, n, d_counts, d_places);
     }},
    {"places_labeled", "the same by labeled_partition()",
     [](Grid each, const int* d_key, std::size_t n, Count* d_counts, Count* d_places) {
       course::launch(places_labeled, each, d_key, n, d_counts, d_places);
     }},
    {"places_agg_inc", "atomic_agg_inc with a counter for each lane",
     [](Grid each, const int* d_key, std::size_t n, Count* d_counts, Count* d_places) {
       course::launch(places_agg_inc, each, d_key, n, d_counts, d_places);
     },
     true, "the leader's counter gets the numbers of all lanes"},
};

// ---- floats -------------------------------------------------------------------------------------

/// Adds the numbers of x[0..n-1] above the limit to *d_sum.
struct FloatRung {
  std::string name, changed;
  void (*start)(Grid each, const float* d_x, std::size_t n, float limit, float* d_sum);
  bool aggregates = true;  // one atomic for a warp; otherwise one for each number above the limit

  void launch(const float* d_x, std::size_t n, float limit, float* d_sum) const {
    start(one_each(n), d_x, n, limit, d_sum);
  }
};

inline const std::vector<FloatRung> kFloatRungs = {
    {"sum_float_plain", "a float atomicAdd for each number above the limit",
     [](Grid each, const float* d_x, std::size_t n, float limit, float* d_sum) {
       course::launch(sum_float_plain, each, d_x, n, limit, d_sum);
     },
     false},
    {"sum_float_coalesced", "one per warp: cg::reduce of the active lanes",
     [](Grid each, const float* d_x, std::size_t n, float limit, float* d_sum) {
       course::launch(sum_float_coalesced, each, d_x, n, limit, d_sum);
     }},
    {"sum_float_warp", "one per warp: all 32 lanes, 0 from those without",
     [](Grid each, const float* d_x, std::size_t n, float limit, float* d_sum) {
       course::launch(sum_float_warp, each, d_x, n, limit, d_sum);
     }},
};

/// The rungs that are not wrong on purpose.
template <class Rung>
std::vector<Rung> right_rungs(std::vector<Rung> rungs) {
  std::erase_if(rungs, [](const Rung& rung) { return !rung.because.empty(); });
  return rungs;
}
