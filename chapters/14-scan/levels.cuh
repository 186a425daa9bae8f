// out[i] is the sum of x[0] to x[i]: how can thousands of threads find sums that contain each other?
// Rungs: scan_reference, scan_one_thread, scan_two_buffers, scan_tree, scan_tree_padded, scan_shuffles.
// From scan_two_buffers on a block scans its share alone; scan_in_levels() makes a whole array of it.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <cstddef>
#include <vector>

#include "grid.cuh"

/// Rung 0, in double.
inline std::vector<double> scan_reference(const std::vector<float>& x) {
  std::vector<double> sums(x.size());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sums[i] = sum += static_cast<double>(x[i]);
  return sums;
}

// Question: what is the sum of everything up to here?
// Changes:  the loop of the CPU, by one thread of the GPU.
// Cost:     n additions, each of which waits for the one before it: all other threads have no work.
__global__ void scan_one_thread(const float* d_x, std::size_t n, float* d_out) {
  float sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += d_x[i];
    d_out[i] = sum;
  }
}

// ---- whole arrays -------------------------------------------------------------------------------

/// Adds what all blocks before this one hold: d_upto[b] is the sum up to the end of block b. Block 0 has
/// `lead` elements less than the others.
__global__ void add_blocks_before(float* d_out, std::size_t n, const float* d_upto, unsigned share,
                                  unsigned lead) {
  if (blockIdx.x == 0) return;
  const float before = d_upto[blockIdx.x - 1];
  const std::size_t first = std::size_t{blockIdx.x} * share - lead;
  for (unsigned t = threadIdx.x; t < share; t += blockDim.x) {
    if (first + t < n) d_out[first + t] += before;
  }
}

/// The blocks' totals, an array for each level; each grows. Launches that share it come one after another.
using Levels = std::vector<course::DeviceBuffer<float>>;

/// Scans x[0..n-1] by a kernel whose blocks scan `share` elements each, and leave their totals: the totals
/// are scanned in the same way, and are added to the blocks after them. d_out may be d_x. `launch` launches
/// the kernel: launch(grid, d_x, n, d_out, d_totals).
template <class Launch>
void scan_in_levels(Launch launch, unsigned share, const float* d_x, std::size_t n, float* d_out,
                    Levels& levels, std::size_t level = 0) {
  if (n == 0) return;
  const unsigned blocks = course::blocks_for(n, share);
  if (levels.size() == level) levels.emplace_back();
  if (levels[level].size() < blocks) levels[level] = course::DeviceBuffer<float>(blocks);
  float* const d_totals = levels[level].data();
  launch(course::Grid{blocks, kBlockSize}, d_x, n, d_out, d_totals);
  if (blocks == 1) return;
  scan_in_levels(launch, share, d_totals, blocks, d_totals, levels, level + 1);
  course::launch(add_blocks_before, {blocks, kBlockSize}, d_out, n, d_totals, share, 0u);
}

// ---- Hillis and Steele --------------------------------------------------------------------------

// Question: can all sums of a block grow at the same time?
// Changes:  in step k each thread adds the sum that ends 2^k elements before its own: after 8 steps the
//           sums of 256 elements are complete. It reads one buffer, and writes the other one.
// Cost:     8 additions for each element, where the loop makes one; 8 barriers. A chain of kernels reads
//           and writes everything twice.
__global__ void scan_two_buffers(const float* d_x, std::size_t n, float* d_out, float* d_totals) {
  __shared__ float s_sum[2][kBlockSize];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + t;
  unsigned from = 0;
  s_sum[from][t] = i < n ? d_x[i] : 0.0f;
  __syncthreads();  // the elements are there
  for (unsigned distance = 1; distance < kBlockSize; distance *= 2) {
    const float before = t >= distance ? s_sum[from][t - distance] : 0.0f;
    s_sum[1 - from][t] = before + s_sum[from][t];
    from = 1 - from;
    __syncthreads();  // all sums have doubled their length, and the old ones have been read
  }
  if (i < n) d_out[i] = s_sum[from][t];
  if (t == kBlockSize - 1) d_totals[blockIdx.x] = s_sum[from][t];
}

// ---- Blelloch -----------------------------------------------------------------------------------

constexpr unsigned kTreeShare = 2 * kBlockSize;  // elements of a block: a thread begins with two

/// Where element i of the tree is. Without padding, threads whose elements are 32 apart use the same bank.
template <bool padded>
__device__ __forceinline__ constexpr unsigned tree_place(unsigned i) {
  return padded ? i + i / 32 : i;
}

// Question: can a block do it with about as many additions as the loop?
// Changes:  a tree. On the way up each node becomes the sum of its two halves; on the way down it tells
//           the left half what is before it, and the right half that plus the left half's sum.
// Cost:     3 additions for each element, in 18 steps with a barrier each. The elements of a step are 2^k
//           apart: bank conflicts, up to 32 lanes on one bank.
// Padded:   a word is left out after each 32: elements that are 32 apart are in different banks.
template <bool padded>
__global__ void scan_tree(const float* d_x, std::size_t n, float* d_out, float* d_totals) {
  __shared__ float s_tree[tree_place<padded>(kTreeShare)];
  const std::size_t first = std::size_t{blockIdx.x} * kTreeShare;
  const auto at = [&](unsigned i) -> float& { return s_tree[tree_place<padded>(i)]; };
  for (unsigned i = threadIdx.x; i < kTreeShare; i += kBlockSize) {
    at(i) = first + i < n ? d_x[first + i] : 0.0f;
  }
  unsigned distance = 1;
  for (unsigned nodes = kBlockSize; nodes > 0; nodes /= 2, distance *= 2) {
    __syncthreads();  // the step before is complete
    const unsigned right = (2 * threadIdx.x + 2) * distance - 1;
    if (threadIdx.x < nodes) at(right) += at(right - distance);
  }
  if (threadIdx.x == 0) {  // this thread made the last addition
    d_totals[blockIdx.x] = at(kTreeShare - 1);
    at(kTreeShare - 1) = 0;  // what is before the block
  }
  for (unsigned nodes = 1; nodes <= kBlockSize; nodes *= 2) {
    distance /= 2;
    __syncthreads();  // the nodes of this step know what is before them
    if (threadIdx.x < nodes) {
      const unsigned right = (2 * threadIdx.x + 2) * distance - 1;
      const float before = at(right), left = at(right - distance);
      at(right - distance) = before;
      at(right) = before + left;
    }
  }
  __syncthreads();  // each element knows what is before it
  for (unsigned i = threadIdx.x; i < kTreeShare; i += kBlockSize) {
    if (first + i < n) d_out[first + i] = at(i) + d_x[first + i];
  }
}

// ---- shuffles -----------------------------------------------------------------------------------

// Question: must the sums pass through shared memory?
// Changes:  chapter 05's prefix sum: shuffles in a warp, and a prefix sum of the warps' totals.
// Cost:     13 shuffles, two barriers.
__global__ void scan_shuffles(const float* d_x, std::size_t n, float* d_out, float* d_totals) {
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  const float x = i < n ? d_x[i] : 0.0f;
  const auto [before, total] = course::block_exclusive_scan(x, course::Sum{});
  if (i < n) d_out[i] = before + x;
  if (threadIdx.x == 0) d_totals[blockIdx.x] = total;
}
