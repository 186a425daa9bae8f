// The rungs of this chapter, each named once. ladder.cu times them, selfcheck.cu proves them right,
// races.cu, counts.cu and claims.cu show what else is said of them.
#pragma once

#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "levels.cuh"
#include "one_pass.cuh"
#include "operators.cuh"
#include "radix.cuh"
#include "run_lengths.cuh"
#include "segments.cuh"
#include "two_passes.cuh"
#include "wrong.cuh"

// ---- sums of floats -----------------------------------------------------------------------------

/// What the rungs need besides; one for all of them.
struct ScanMemory {
  Levels levels;
  Totals<float> totals;
  course::LookBackMemory<float> look_back;
};

/// Sets out[i] to x[0] + ... + x[i]. Both arrays are aligned to their elements, no more.
struct ScanRung {
  std::string name, changed;
  void (*launch)(const float* d_x, std::size_t n, float* d_out, ScanMemory& memory);
  unsigned reads = 1, writes = 1;      // of each element; more with the blocks' totals
  std::size_t most = ~std::size_t{0};  // elements: with more it takes seconds
  bool same_bits = true;               // in every run
};

/// A rung with a block per tile.
template <class Way, class ShapeT = LookBackShape>
void launch_look_back_rung(const float* d_x, std::size_t n, float* d_out, ScanMemory& memory) {
  launch_scan_look_back<Way, ShapeT>(d_x, n, d_out, course::Sum{}, memory.look_back);
}

inline std::vector<ScanRung> scan_rungs() {
  using Memory = ScanMemory;
  return {
      {.name = "scan_one_thread",
       .changed = "one thread",
       .launch =
           [](const float* d_x, std::size_t n, float* d_out, Memory&) {
             course::launch(scan_one_thread, {1, 1}, d_x, n, d_out);
           },
       .most = std::size_t{1} << 20},
      {.name = "scan_two_buffers",
       .changed = "Hillis and Steele in each block; a chain of kernels",
       .launch =
           [](const float* d_x, std::size_t n, float* d_out, Memory& memory) {
             const auto block_scan = [](auto... arguments) {
               course::launch(scan_two_buffers, arguments...);
             };
             scan_in_levels(block_scan, kBlockSize, d_x, n, d_out, memory.levels);
           },
       .reads = 2,
       .writes = 2},
      {.name = "scan_tree",
       .changed = "Blelloch's tree: as many additions as the loop, but for a factor",
       .launch =
           [](const float* d_x, std::size_t n, float* d_out, Memory& memory) {
             const auto block_scan = [](auto... arguments) {
               course::launch(scan_tree<false>, arguments...);
             };
             scan_in_levels(block_scan, kTreeShare, d_x, n, d_out, memory.levels);
           },
       .reads = 3,  // the elements come again, after the sums before them
       .writes = 2},
      {.name = "scan_tree_padded",
       .changed = "a word of padding after each 32: no bank conflicts",
       .launch =
           [](const float* d_x, std::size_t n, float* d_out, Memory& memory) {
             const auto block_scan = [](auto... arguments) {
               course::launch(scan_tree<true>, arguments...);
             };
             scan_in_levels(block_scan, kTreeShare, d_x, n, d_out, memory.levels);
           },
       .reads = 3,
       .writes = 2},
      {.name = "scan_shuffles",
       .changed = "shuffles, and a prefix sum of the warps",
       .launch =
           [](const float* d_x, std::size_t n, float* d_out, Memory& memory) {
             const auto block_scan = [](auto... arguments) {
               course::launch(scan_shuffles, arguments...);
             };
             scan_in_levels(block_scan, kBlockSize, d_x, n, d_out, memory.levels);
           },
       .reads = 2,
       .writes = 2},
      {.name = "scan_packs",
       .changed = "eight packs of 16 bytes per thread",
       .launch = [](const float* d_x, std::size_t n, float* d_out,
                    Memory& memory) { launch_scan_packs(d_x, n, d_out, memory.totals); },
       .reads = 2,
       .writes = 2},
      {.name = "scan_three_kernels",
       .changed = "reduce, scan the totals, scan and add: reads twice, writes once",
       .launch =
           [](const float* d_x, std::size_t n, float* d_out, Memory& memory) {
             launch_scan_three_kernels(d_x, n, d_out, course::Sum{}, memory.totals);
           },
       .reads = 2},
      {.name = "scan_thread_looks_back",
       .changed = "one pass: tickets, and a thread that looks back",
       .launch = launch_look_back_rung<ByThread>,
       .same_bits = false},
      {.name = "scan_warp_looks_back",
       .changed = "a warp looks at 32 tiles at once",
       .launch = launch_look_back_rung<ByWarp>,
       .same_bits = false},
      {.name = "scan_groups",
       .changed = "groups of 64 tiles: a fixed order, and each tile tells one thing",
       .launch = launch_look_back_rung<InGroups<kPerLane>>},
      {.name = "scan_pipelined",
       .changed = "loads and scans the next tile before it looks back",
       .launch =
           [](const float* d_x, std::size_t n, float* d_out, Memory& memory) {
             launch_scan_pipelined(d_x, n, d_out, course::Sum{}, memory.look_back);
           }},
      {.name = "scan_in_turn",
       .changed = "smaller tiles, in turn: no ticket, a cooperative launch",
       .launch =
           [](const float* d_x, std::size_t n, float* d_out, Memory& memory) {
             launch_scan_in_turn(d_x, n, d_out, course::Sum{}, memory.look_back);
           },
       .same_bits = false},
  };
}

// ---- any operation ------------------------------------------------------------------------------

/// What the rungs for elements of type T need besides.
template <class T>
struct AnyMemory {
  Totals<T> totals;
  course::LookBackMemory<T> look_back;
};

/// Sets out[i] to op(x[0], ..., x[i]), or to op(x[0], ..., x[i-1]), with the identity for i = 0.
template <class T, class Operation>
struct AnyRung {
  std::string name, changed;
  void (*launch)(const T* d_x, std::size_t n, T* d_out, AnyMemory<T>& memory);
};

/// The tiles of the rungs; small ones for tests.
struct LadderTiles {
  using OfBlock = LookBackShape;
  template <Scan kind, class T, class Operation>
  static void launch_pipelined(const T* d_x, std::size_t n, T* d_out, Operation op,
                               course::LookBackMemory<T>& memory) {
    launch_scan_pipelined<kind>(d_x, n, d_out, op, memory);
  }
  template <Scan kind, class T, class Operation>
  static void launch_in_turn(const T* d_x, std::size_t n, T* d_out, Operation op,
                             course::LookBackMemory<T>& memory) {
    launch_scan_in_turn<kind>(d_x, n, d_out, op, memory);
  }
  static constexpr unsigned kTilesPerLane = kPerLane;
};

template <Scan kind, class T, class Operation, class Tiling = LadderTiles>
std::vector<AnyRung<T, Operation>> any_rungs() {
  using Memory = AnyMemory<T>;
  using OfBlock = typename Tiling::OfBlock;
  using Groups = InGroups<Tiling::kTilesPerLane>;
  return {
      {"scan_three_kernels", "reduce, scan the totals, scan",
       [](const T* d_x, std::size_t n, T* d_out, Memory& memory) {
         launch_scan_three_kernels<OfBlock, kind>(d_x, n, d_out, Operation{}, memory.totals);
       }},
      {"scan_thread_looks_back", "one pass: a thread looks back",
       [](const T* d_x, std::size_t n, T* d_out, Memory& memory) {
         launch_scan_look_back<ByThread, OfBlock, kind>(d_x, n, d_out, Operation{},
                                                        memory.look_back);
       }},
      {"scan_warp_looks_back", "a warp looks back",
       [](const T* d_x, std::size_t n, T* d_out, Memory& memory) {
         launch_scan_look_back<ByWarp, OfBlock, kind>(d_x, n, d_out, Operation{}, memory.look_back);
       }},
      {"scan_groups", "groups of tiles",
       [](const T* d_x, std::size_t n, T* d_out, Memory& memory) {
         launch_scan_look_back<Groups, OfBlock, kind>(d_x, n, d_out, Operation{}, memory.look_back);
       }},
      {"scan_pipelined", "loads and scans the next tile before it looks back",
       [](const T* d_x, std::size_t n, T* d_out, Memory& memory) {
         Tiling::template launch_pipelined<kind>(d_x, n, d_out, Operation{}, memory.look_back);
       }},
      {"scan_in_turn", "tiles in turn: no ticket",
       [](const T* d_x, std::size_t n, T* d_out, Memory& memory) {
         Tiling::template launch_in_turn<kind>(d_x, n, d_out, Operation{}, memory.look_back);
       }}};
}

// ---- segments -----------------------------------------------------------------------------------

/// Where the segments begin, as flags and as keys; and what a launch needs besides.
struct Segments {
  const std::uint8_t *d_flags, *d_keys;
  course::LookBackMemory<float>& memory;
};

/// Sets out[i] to the sum of x from the begin of its segment to x[i].
struct SegmentRung {
  std::string name, changed;
  void (*launch)(const float* d_x, std::size_t n, const Segments& segments, float* d_out);
};

inline std::vector<SegmentRung> segment_rungs() {
  return {{"scan_by_flag", "a byte for each element: not 0 where a segment begins",
           [](const float* d_x, std::size_t n, const Segments& segments, float* d_out) {
             launch_scan_segments(d_x, n, ByFlag{segments.d_flags}, d_out, segments.memory);
           }},
          {"scan_by_key", "a key of 8 bits: a segment begins where it changes",
           [](const float* d_x, std::size_t n, const Segments& segments, float* d_out) {
             launch_scan_segments(d_x, n, ByKey<std::uint8_t>{segments.d_keys}, d_out,
                                  segments.memory);
           }}};
}

// ---- runs ---------------------------------------------------------------------------------------

struct RunsRung {
  std::string name, changed;
  void (*launch)(const unsigned* d_x, std::size_t n, const RunArrays& out,
                 course::LookBackMemory<Runs>& memory);
};

inline std::vector<RunsRung> runs_rungs() {
  return {{"encode_runs", "one scan of pairs: runs before, and where the last one begins",
           [](const unsigned* d_x, std::size_t n, const RunArrays& out,
              course::LookBackMemory<Runs>& memory) { launch_encode_runs(d_x, n, out, memory); }}};
}

// ---- digits -------------------------------------------------------------------------------------

/// Sorts by the digits of the passes from 0 on: by the lowest one, or by all four.
struct RadixRung {
  std::string name, changed;
  unsigned passes;
  void (*launch)(const unsigned* d_keys, std::size_t n, unsigned* d_out, RadixMemory& memory);
};

inline std::vector<RadixRung> radix_rungs() {
  return {{"radix_pass_match", "one digit: __match_any_sync finds a key's peers", 1,
           [](const unsigned* d_keys, std::size_t n, unsigned* d_out, RadixMemory& memory) {
             launch_radix_passes<Peers::by_match>(d_keys, n, d_out, 0, 1, memory);
           }},
          {"radix_pass_votes", "one digit: eight votes do", 1,
           [](const unsigned* d_keys, std::size_t n, unsigned* d_out, RadixMemory& memory) {
             launch_radix_passes<Peers::by_votes>(d_keys, n, d_out, 0, 1, memory);
           }},
          {"radix_sort", "all four digits, from the lowest one on", kPasses,
           [](const unsigned* d_keys, std::size_t n, unsigned* d_out, RadixMemory& memory) {
             launch_radix_sort(d_keys, n, d_out, memory);
           }}};
}

// ---- wrong on purpose ---------------------------------------------------------------------------

/// A kernel that races. scan_without_ticket is not one of them: it may never end.
struct WrongScan {
  std::string name, changed, because;
  std::string reported;  // what the report of the race names
  void (*launch)(const float* d_x, std::size_t n, float* d_out);
};

inline std::vector<WrongScan> wrong_scans() {
  return {
      {.name = "scan_one_buffer",
       .changed = "scan_two_buffers with one buffer",
       .because = "a thread may read a sum that has grown already",
       .reported = "s_sum",
       .launch =
           [](const float* d_x, std::size_t n, float* d_out) {
             static Levels levels;
             scan_in_levels(
                 [](auto... arguments) { course::launch(scan_one_buffer, arguments...); },
                 kBlockSize, d_x, n, d_out, levels);
           }},
      {.name = "scan_value_and_flag",
       .changed = "a tile's value, and a flag in a word of its own",
       .because = "nothing orders the value before the flag",
       .reported = "wrong.cuh",
       .launch =
           [](const float* d_x, std::size_t n, float* d_out) {
             const unsigned tiles = course::blocks_for(n, kBlockSize);
             course::DeviceBuffer<float> upto(tiles);
             auto flags = course::DeviceBuffer<unsigned>::zeros(tiles + 1);
             course::launch(scan_value_and_flag, {tiles, kBlockSize}, d_x, n, d_out, flags.data(),
                            ValueAndFlag{upto.data(), flags.data() + 1});
             CUDA_CHECK(cudaDeviceSynchronize());  // the memory ends here
           }},
  };
}
