// Where does each cell begin? A prefix sum over millions of counts, in one pass over memory.
// Rungs: scan_cells.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/grid.cuh>
#include <course/pack.cuh>
#include <cstddef>

constexpr unsigned kScanThreads = 256;
constexpr unsigned kScanItems = 8;  // of a thread: two loads of 16 bytes
constexpr std::size_t kScanTile = kScanThreads * kScanItems;

/// Tiles that hold `cells` counts and a 0 after them.
inline unsigned scan_tiles(std::size_t cells) { return course::blocks_for(cells + 1, kScanTile); }

/// What the tiles of a scan tell each other: one word per tile, its state and a sum, written and
/// read as a whole, so that no block sees one without the other. All is 0 before a launch.
struct ScanState {
  volatile unsigned long long* words;
  unsigned* ticket;
};

enum : unsigned {
  kNothing = 0,
  kTotal = 1,   // a tile's own sum
  kPrefix = 2,  // that of all tiles up to it
};

__host__ __device__ __forceinline__ unsigned long long scan_word(unsigned state, int sum) {
  return static_cast<unsigned long long>(state) << 32 | static_cast<unsigned>(sum);
}
__host__ __device__ __forceinline__ unsigned state_of(unsigned long long word) {
  return static_cast<unsigned>(word >> 32);
}
__host__ __device__ __forceinline__ int sum_of(unsigned long long word) {
  return static_cast<int>(word);
}

/// Tells the tiles after this one its total, and returns the sum of all tiles before it. A whole
/// warp looks at 32 tiles at a time, newest first, until one of them knows its prefix.
__device__ inline int look_back(ScanState scan, int tile, int total) {
  const int lane = static_cast<int>(threadIdx.x % course::kWarpSize);
  if (lane == 0) scan.words[tile] = scan_word(tile == 0 ? kPrefix : kTotal, total);
  if (tile == 0) return 0;
  int before = 0;
  for (int newest = tile - 1;; newest -= 32) {
    const int mine = newest - lane;
    unsigned long long word = scan_word(kPrefix, 0);  // before the first tile there is nothing
    do {
      if (mine >= 0) word = scan.words[mine];
    } while (__any_sync(course::kAllLanes, state_of(word) == kNothing));
    const unsigned prefixes = __ballot_sync(course::kAllLanes, state_of(word) == kPrefix);
    const int last = prefixes == 0 ? 31 : __ffs(static_cast<int>(prefixes)) - 1;
    before += course::warp_reduce(lane <= last ? sum_of(word) : 0, course::Sum{});
    if (prefixes != 0) break;
  }
  if (lane == 0) scan.words[tile] = scan_word(kPrefix, before + total);
  return before;
}

/// Each count becomes the sum of `start` and all counts before it; `start` moves past the last.
__device__ __forceinline__ void replace_by_starts(course::Pack<int, 4>& counts, int& start) {
  for (int k = 0; k < 4; ++k) {
    const int count = counts.elem[k];
    counts.elem[k] = start;
    start += count;
  }
}

// Question: where does each cell begin among the sorted atoms?
// Changes:  a block scans a tile of 2048 counts, and reads the sums of the tiles before it. Tickets
//           number the tiles: a block that waits waits for one that runs already.
// Cost:     each count is read once; its start, and a 0 for the next launch, are written once.
template <class Cells>
__global__ void scan_cells(int* d_counts, int* d_starts, Cells cells, ScanState scan) {
  __shared__ int s_tile, s_before;
  if (blockIdx.x * kScanTile > cells()) return;  // the launcher knows only how many there may be
  if (threadIdx.x == 0) s_tile = static_cast<int>(atomicAdd(scan.ticket, 1u));
  __syncthreads();  // for s_tile
  const std::size_t first = static_cast<unsigned>(s_tile) * kScanTile + threadIdx.x * kScanItems;
  auto low = course::load_pack<4>(d_counts + first),
       high = course::load_pack<4>(d_counts + first + 4);
  course::store_pack(d_counts + first, course::Pack<int, 4>{});
  course::store_pack(d_counts + first + 4, course::Pack<int, 4>{});
  int sum = 0;
  for (int k = 0; k < 4; ++k) sum += low.elem[k] + high.elem[k];
  const auto [before, total] = course::block_exclusive_scan(sum, course::Sum{});
  if (threadIdx.x < course::kWarpSize) {
    const int tiles_before = look_back(scan, s_tile, total);
    if (threadIdx.x == 0) s_before = tiles_before;
  }
  __syncthreads();  // for s_before
  int start = s_before + before;
  replace_by_starts(low, start);
  replace_by_starts(high, start);
  course::store_pack(d_starts + first, low);
  course::store_pack(d_starts + first + 4, high);
}
