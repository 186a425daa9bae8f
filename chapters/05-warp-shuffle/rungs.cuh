// The rungs of this chapter, each once. The ladder shows them in this order; selfcheck.cu, races.cu,
// counts.cu and claims.cu prove what the lesson says of them.
#pragma once

#include <course/ladder.cuh>
#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <string>
#include <vector>

#include "block_reduce.cuh"
#include "compute_type.cuh"
#include "finish.cuh"
#include "fixed_point.cuh"
#include "loads_in_flight.cuh"
#include "pack_reduce.cuh"
#include "prefix_sum.cuh"
#include "warp_reduce.cuh"
#include "wrong.cuh"

// ---- sums --------------------------------------------------------------------------------------

/// What the rungs that finish a sum in one or two launches work in; one for each accumulator.
template <class Accumulator>
struct SumMemory {
  Workspace<Accumulator> workspace;
  TwoCells<Accumulator> cells;
};

/// What a launch does to *d_y.
enum class Finish {
  adds,      // adds the sum to it: zero it before
  sets,      // sets it, whatever it held
  two_cells  // nothing: the sum is in one of the rung's own cells
};

/// A rung that sums x[0..n-1] in Accumulators. d_x is aligned to its elements, no more.
template <class T, class Accumulator = course::ComputeType<T>>
struct SumRung {
  std::string name, changed;
  /// Returns the address of the sum: d_y, or a cell.
  const Accumulator* (*launch)(const T* d_x, std::size_t n, Accumulator* d_y,
                               SumMemory<Accumulator>& memory);
  Finish finish = Finish::adds;
  bool packs = false;     // reads 16 bytes at a time, so that the start of x matters
  std::string warm = {};  // what is new, in the table with x in the L2; empty: it is not there
};

/// The two rungs that every type has, of which `changed` says the type.
template <class T, class Accumulator = course::ComputeType<T>>
std::vector<SumRung<T, Accumulator>> sums_of_any_type(const std::string& changed) {
  using Memory = SumMemory<Accumulator>;
  return {{.name = "sum_pack_loads",
           .changed = changed,
           .launch =
               [](const T* d_x, std::size_t n, Accumulator* d_y, Memory& memory) {
                 sum_pack_loads(d_x, n, d_y, memory.workspace);
                 return static_cast<const Accumulator*>(d_y);
               },
           .finish = Finish::sets,
           .packs = true,
           .warm = "several loads in flight, finished by the last block"},
          {.name = "sum_two_cells",
           .changed = changed,
           .launch = [](const T* d_x, std::size_t n, Accumulator*,
                        Memory& memory) { return launch_sum_two_cells(d_x, n, memory.cells); },
           .finish = Finish::two_cells,
           .packs = true,
           .warm = "atomics on a cell that the launch before cleared"}};
}

/// All rungs that sum elements of type T, in the ladder's order.
template <class T>
std::vector<SumRung<T>> sum_rungs();

template <>
inline std::vector<SumRung<double>> sum_rungs() {
  return sums_of_any_type<double>("of double");
}

template <>
inline std::vector<SumRung<__half>> sum_rungs() {
  return sums_of_any_type<__half>("of half, summed in float");
}

template <>
inline std::vector<SumRung<int>> sum_rungs() {
  auto rungs = sums_of_any_type<int>("of int");
  const auto reduce_add = [](const int* d_x, std::size_t n, int* d_y, SumMemory<int>&) {
    course::launch(sum_reduce_add_sync, {blocks_for(n), kBlockSize}, d_x, n, d_y);
    return static_cast<const int*>(d_y);
  };
  rungs.insert(rungs.begin(), SumRung<int>{"sum_reduce_add_sync",
                                           "__reduce_add_sync, one atomic per warp", reduce_add});
  return rungs;
}

template <>
inline std::vector<SumRung<float>> sum_rungs() {
  using Memory = SumMemory<float>;
  std::vector<SumRung<float>> rungs = {
      {"sum_syncwarp_tree", "a tree in shared memory, its tail in one warp",
       [](const float* d_x, std::size_t n, float* d_y, Memory&) -> const float* {
         course::launch(sum_syncwarp_tree, {blocks_for(n), kBlockSize}, d_x, n, d_y);
         return d_y;
       }},
      {"sum_shuffle_down", "__shfl_down_sync, one atomic per warp",
       [](const float* d_x, std::size_t n, float* d_y, Memory&) -> const float* {
         course::launch(sum_shuffle_down, {blocks_for(n), kBlockSize}, d_x, n, d_y);
         return d_y;
       }},
      {"sum_shuffle_xor", "__shfl_xor_sync: every lane has it",
       [](const float* d_x, std::size_t n, float* d_y, Memory&) -> const float* {
         course::launch(sum_shuffle_xor, {blocks_for(n), kBlockSize}, d_x, n, d_y);
         return d_y;
       }},
      {"sum_cooperative_groups", "cg::reduce on a tile of 32",
       [](const float* d_x, std::size_t n, float* d_y, Memory&) -> const float* {
         course::launch(sum_cooperative_groups, {blocks_for(n), kBlockSize}, d_x, n, d_y);
         return d_y;
       }},
      {"sum_two_warp_reduces", "two warp reductions, one atomic per block",
       [](const float* d_x, std::size_t n, float* d_y, Memory&) -> const float* {
         course::launch(sum_two_warp_reduces, {blocks_for(n), kBlockSize}, d_x, n, d_y);
         return d_y;
       }},
      {.name = "sum_grid_stride",
       .changed = "as many blocks as are resident",
       .launch = [](const float* d_x, std::size_t n, float* d_y, Memory&) -> const float* {
         launch_sum_grid_stride(d_x, n, d_y);
         return d_y;
       },
       .warm = "as many blocks as are resident"},
      {.name = "sum_pack",
       .changed = "16 bytes per load",
       .launch = [](const float* d_x, std::size_t n, float* d_y, Memory&) -> const float* {
         launch_sum_pack(d_x, n, d_y);
         return d_y;
       },
       .packs = true,
       .warm = "16 bytes per load"},
      {.name = "sum_loads_in_flight",
       .changed = "several loads before the first addition",
       .launch = [](const float* d_x, std::size_t n, float* d_y, Memory&) -> const float* {
         launch_sum_loads_in_flight(d_x, n, d_y);
         return d_y;
       },
       .packs = true},
      {.name = "sum_loads_hinted",
       .changed = "the same, with a cache hint up to 128 MiB",
       .launch = [](const float* d_x, std::size_t n, float* d_y, Memory&) -> const float* {
         sum_loads_hinted(d_x, n, d_y);
         return d_y;
       },
       .packs = true},
      {.name = "sum_loads_and_memset",
       .changed = "the same, with its memset timed",
       .launch = [](const float* d_x, std::size_t n, float* d_y, Memory&) -> const float* {
         sum_loads_and_memset(d_x, n, d_y);
         return d_y;
       },
       .finish = Finish::sets,
       .packs = true},
      {.name = "sum_second_kernel",
       .changed = "no atomics: a second kernel sums the blocks",
       .launch = [](const float* d_x, std::size_t n, float* d_y, Memory& memory) -> const float* {
         sum_second_kernel(d_x, n, d_y, memory.workspace);
         return d_y;
       },
       .finish = Finish::sets,
       .packs = true},
  };
  for (SumRung<float> rung : sums_of_any_type<float>("")) {
    rung.changed = rung.finish == Finish::sets
                       ? "the last block combines them: one launch, no memset"
                       : rung.warm;
    rungs.push_back(rung);
  }
  return rungs;
}

/// A rung that sums x[0..n-1] in units of 2^-32, whatever the order. The sum is in one of its cells.
struct FixedPointRung {
  std::string name, changed;
  const unsigned long long* (*launch)(const float* d_x, std::size_t n,
                                      TwoCells<unsigned long long>& cells);
};

inline const std::vector<FixedPointRung> kFixedPointRungs = {
    {"sum_fixed_point", "integer atomics: the same bits for any grid and order",
     launch_sum_fixed_point}};

/// A launch that does as little as a launch can.
struct FloorRung {
  std::string name, changed;
  void (*launch)();
};

inline const std::vector<FloorRung> kFloorRungs = {{"no_work", "an empty kernel", [] {
                                                      course::launch(no_work, {1, 32});
                                                    }}};

// ---- prefix sums -------------------------------------------------------------------------------

/// A rung that writes a prefix sum of every element.
struct PrefixRung {
  std::string name, changed;
  bool of_warps;  // inclusive ones of 32 elements; else exclusive ones of kBlockSize, and totals
  void (*launch)(const float* d_x, std::size_t n, float* d_sums, float* d_totals);
};

inline const std::vector<PrefixRung> kPrefixRungs = {
    {"prefix_sum_warp", "__shfl_up_sync", true,
     [](const float* d_x, std::size_t n, float* d_sums, float*) {
       course::launch(prefix_sum_warp, {blocks_for(n), kBlockSize}, d_x, n, d_sums);
     }},
    {"prefix_sum_block", "and a prefix sum of the warps' totals", false,
     [](const float* d_x, std::size_t n, float* d_before, float* d_totals) {
       course::launch(prefix_sum_block, {blocks_for(n), kBlockSize}, d_x, n, d_before, d_totals);
     }},
    {"prefix_block<Sum>", "the same for any operation", false,
     [](const float* d_x, std::size_t n, float* d_before, float* d_totals) {
       course::launch(prefix_block<float, course::Sum>, {blocks_for(n), kBlockSize}, d_x, n,
                      d_before, d_totals);
     }},
};

// ---- compute types -----------------------------------------------------------------------------

/// The same half, `count` times, summed by one thread.
struct ComputeTypeRung {
  std::string name, changed;
  std::size_t count;
  float value;
  double sum;           // what it gives, everywhere
  std::string because;  // why that is wrong; empty: it is right
  void (*launch)(const __half* d_x, std::size_t n, float* d_y);

  std::vector<__half> values() const { return std::vector<__half>(count, __half(value)); }
  double right() const { return static_cast<double>(count) * static_cast<double>(value); }
};

inline void add_in_half(const __half* d_x, std::size_t n, float* d_y) {
  course::launch(sum_in_order<__half>, {1, 1}, d_x, n, d_y);
}
inline void add_in_float(const __half* d_x, std::size_t n, float* d_y) {
  course::launch(sum_in_order<float>, {1, 1}, d_x, n, d_y);
}

inline const std::vector<ComputeTypeRung> kComputeTypeRungs = {
    {"sum_in_order<__half>", "one thread sums them in half", 4096, 1.0f, kHalfStagnatesAt,
     "from 2048 on halves are 2 apart, and adding 1 is rounded away", add_in_half},
    {"sum_in_order<float>", "one thread sums them in float", 4096, 1.0f, 4096, "", add_in_float},
    {"sum_in_order<float>", "in float; in half it is infinite, the largest half is 65504", 64,
     1024.0f, 65536, "", add_in_float},
};

// ---- wrong on purpose --------------------------------------------------------------------------

/// A kernel that is wrong on purpose.
struct WrongSum {
  std::string name, changed;
  course::Expect expect;
  std::string because;
  std::string reported;                                         // a race: what the report names
  void (*launch)(const float* d_x, std::size_t n, float* d_y);  // d_y: two floats
};

/// sum_divergent_shuffle is not one of them: on a GPU it may hang.
inline const std::vector<WrongSum> kWrongSums = {
    {"sum_tail_without_syncwarp", "the tree's tail without __syncwarp()", course::Expect::race,
     "lanes of a warp need not run in lockstep", "wrong.cuh",
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(sum_tail_without_syncwarp, {blocks_for(n), kBlockSize}, d_x, n, d_y);
     }},
    {"sum_down_by_lane_1", "the result of __shfl_down_sync, read in lane 1",
     course::Expect::wrong_value,
     "lanes past the end get their own value back: only lane 0 is right", "",
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(sum_down_by_lane_1, {blocks_for(n), kBlockSize}, d_x, n, d_y);
     }},
    {"sums_without_second_barrier", "two block reductions in a row, one barrier each",
     course::Expect::race, "the second one overwrites what slow warps still read", "s_warp",
     [](const float* d_x, std::size_t n, float* d_y) {
       course::launch(sums_without_second_barrier, {blocks_for(n), kBlockSize}, d_x, n, d_y);
     }},
};
