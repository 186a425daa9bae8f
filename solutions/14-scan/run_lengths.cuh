// Exercise run_lengths: run-length encoding in one pass.
//
// A scanned page is white for thousands of pixels, then black for a few, and white again: it is stored
// as values, and how often each of them comes in a row. Which place a run has depends on how many runs
// begin before it, and its length on where it begins. A scan of pairs knows both.
//
// One kernel: a block has a tile of 256 elements, scans it, and looks back for what is before the tile.
//
// Try it: ./course check run_lengths
#pragma once

#include <cuda_runtime.h>

#include <course/buffer.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/launch.cuh>
#include <course/look_back.cuh>
#include <cstddef>

constexpr unsigned kThreads = 256, kWarps = kThreads / 32;

/// Elements that lie side by side: how many runs begin among them, and where the last of these begins;
/// if none does, `last` may be anything.
struct Runs {
  unsigned count, last;
};

/// The elements of a and, after them, those of b.
__host__ __device__ inline Runs join(Runs a, Runs b) {
  return {a.count + b.count, b.count != 0 ? b.last : a.last};
}

/// Ready to use: join() for course::warp_scan_any(value, Join{}) and course::look_back(states, tile, Join{}).
struct Join {
  __host__ __device__ Runs operator()(const Runs& a, const Runs& b) const { return join(a, b); }
  template <class T>
  __host__ __device__ static constexpr T identity() {
    return {0, 0};
  }
};

/// Ready to use: the inclusive scan of the block's values; `total` becomes that of all of them. All
/// threads call it, once.
__device__ inline Runs scan_block(Runs value, Runs& total) {
  __shared__ Runs s_warps[kWarps];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = course::warp_scan_any(value, Join{});
  if (lane == 31) s_warps[warp] = value;
  __syncthreads();  // the warps' totals are there
  Runs before = {0, 0};
  total = {0, 0};
  for (unsigned w = 0; w < kWarps; ++w) {
    if (w == warp) before = total;
    total = join(total, s_warps[w]);
  }
  return join(before, value);
}

/// Ready to use: all before the tile, joined, for each thread of its block. `total` is the tile's own.
__device__ inline Runs before_tile(course::TileStates<Runs> states, unsigned tile, Runs total) {
  __shared__ Runs s_before;
  if (threadIdx.x < 32) {
    if (threadIdx.x == 0) states.tell(tile, course::Told::aggregate, total);
    const Runs before = course::look_back(states, tile, Join{});
    if (threadIdx.x == 0) {
      states.tell(tile, course::Told::prefix, join(before, total));
      s_before = before;
    }
  }
  __syncthreads();  // all before the tile is known
  return s_before;
}

/// Encodes the block's tile: the elements x[kThreads * tile] to x[kThreads * tile + kThreads - 1] that
/// there are.
__global__ void encode_tiles(const unsigned char* x, std::size_t n, course::TileStates<Runs> states,
                             unsigned char* values, unsigned* lengths, unsigned* count) {
  __shared__ unsigned s_tile;
  if (threadIdx.x == 0) s_tile = atomicInc(states.d_ticket, gridDim.x - 1);
  __syncthreads();  // the block has a tile
  const unsigned tile = s_tile, i = kThreads * tile + threadIdx.x;
  const bool begins = i < n && (i == 0 || x[i] != x[i - 1]);
  Runs total;
  const Runs upto = scan_block(begins ? Runs{1, i} : Runs{0, 0}, total);
  const Runs all = join(before_tile(states, tile, total), upto);
  if (i >= n) return;
  // The last element of a run knows all of it: the run's number, and where it began.
  if (i + 1 == n || x[i + 1] != x[i]) {
    values[all.count - 1] = x[i];
    lengths[all.count - 1] = i + 1 - all.last;
  }
  if (i + 1 == n) *count = all.count;
}

/// A run is a stretch of equal elements, as long as it can be. Writes values[r] and lengths[r], what run
/// r consists of and how many elements it has, for each run of x in their order, and *count, how many
/// runs there are.
/// - n is less than 2^32, and may be 0. All elements may be equal, and all may differ from their
///   neighbours; a run may be longer than any block's tile.
/// - values and lengths have room for the runs that there are, no more. *count may hold anything before.
/// - x and values begin at any byte.
/// - Each call encodes what is in memory then.
/// - Kernels find the runs. The threads of many blocks share the work, also that of one long run.
inline void run_lengths(const unsigned char* x, std::size_t n, unsigned char* values,
                        unsigned* lengths, unsigned* count) {
  CUDA_CHECK(cudaMemset(count, 0, sizeof *count));  // if n is 0, no kernel is launched
  course::LookBackMemory<Runs> memory;
  const auto tiles = static_cast<unsigned>((n + kThreads - 1) / kThreads);
  course::launch(encode_tiles, {tiles, kThreads}, x, n, memory.next(tiles), values, lengths, count);
}
