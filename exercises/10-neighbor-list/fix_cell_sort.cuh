// Exercise fix_cell_sort: find the bugs, and fix them.
//
// sort_by_cell() brings the atoms of each cell together, and counts the pairs of atoms that share a
// cell: that is the work of a search for neighbours. It has been in use for a year, for 256 atoms in
// 32 cells. Now others use it, and they complain:
// - "Of my 1,000 atoms it writes only some. Of my colleague's 1,024 it writes all."
// - "I have 5,000 atoms. The counts of the cells are too small, and not the same in every run."
// - "I have 300 atoms in a box of 700 cells. In some runs the starts of the cells are nonsense."
// - "The number of pairs is wrong if I have 100 cells. With 96 cells it is right."
// - "A droplet: all of its 70,000 atoms are in one cell. Only an eighth of its pairs is counted."
//
// Try it: ./course check fix_cell_sort
#pragma once

#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

constexpr unsigned kThreads = 256, kCountingBlocks = 16, kMostCells = 4096;

/// What a sort writes.
struct CellLists {
  unsigned* counts;           // cells elements: how many atoms are in cell c
  unsigned* starts;           // cells + 1 elements: how many atoms are in the cells before c
  unsigned* taken;            // cells elements: workspace
  unsigned* atoms;            // n elements: the atoms of cell c are atoms[starts[c]] and following
  unsigned long long* pairs;  // one element: the pairs of two atoms of the same cell
};

/// counts[c] += the number of atoms in cell c.
__global__ void count_atoms(const unsigned* cell_of, std::size_t n, unsigned cells,
                            unsigned* counts) {
  __shared__ unsigned s_counts[kMostCells];
  for (unsigned c = threadIdx.x; c < cells; c += blockDim.x) s_counts[c] = 0;
  __syncthreads();
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads) {
    atomicAdd(&s_counts[cell_of[i]], 1u);
  }
  __syncthreads();
  for (unsigned c = threadIdx.x; c < cells; c += blockDim.x) {
    if (s_counts[c] > 0) counts[c] += s_counts[c];
  }
}

/// starts = the exclusive prefix sum of counts. For one block of kThreads threads.
__global__ void find_starts(const unsigned* counts, unsigned cells, unsigned* starts) {
  __shared__ unsigned s_sums[kThreads / course::kWarpSize];
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  unsigned before = 0;
  for (unsigned first = 0; first < cells; first += kThreads) {
    const unsigned c = first + threadIdx.x;
    const unsigned count = c < cells ? counts[c] : 0;
    unsigned sum = count;
    for (unsigned distance = 1; distance < course::kWarpSize; distance *= 2) {
      const unsigned below = __shfl_up_sync(course::kAllLanes, sum, distance);
      if (lane >= distance) sum += below;
    }
    if (lane == course::kWarpSize - 1) s_sums[warp] = sum;
    __syncthreads();
    unsigned total = 0;
    for (unsigned w = 0; w < kThreads / course::kWarpSize; ++w) {
      if (w == warp) sum += total;
      total += s_sums[w];
    }
    if (c < cells) starts[c] = before + sum - count;
    before += total;
  }
  if (threadIdx.x == 0) starts[cells] = before;
}

/// Each atom takes the next free place of its cell.
__global__ void write_atoms(const unsigned* cell_of, std::size_t n, const unsigned* starts,
                            unsigned* taken, unsigned* atoms) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned cell = cell_of[i];
  atoms[starts[cell] + atomicAdd(&taken[cell], 1u)] = static_cast<unsigned>(i);
}

/// *pairs += the pairs of all cells.
__global__ void count_pairs(const unsigned* starts, unsigned cells, unsigned long long* pairs) {
  const unsigned c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cells) return;
  const unsigned count = starts[c + 1] - starts[c];
  unsigned long long sum = count * (count - 1) / 2;
  for (unsigned distance = course::kWarpSize / 2; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(course::kAllLanes, sum, distance);
  }
  if (threadIdx.x % course::kWarpSize == 0) atomicAdd(pairs, sum);
}

/// Sorts n atoms into cells: atom i is in cell cell_of[i], a number below `cells`.
/// - n may be 0, and is less than 2^32. There are 1 to kMostCells cells.
/// - counts, taken and *pairs are 0 before; starts and atoms may hold anything.
/// - counts, starts and *pairs are exact, however many atoms a cell has. The atoms of a cell may be
///   in any order. taken may hold anything afterwards.
/// - The threads share the work.
inline void sort_by_cell(const unsigned* cell_of, std::size_t n, unsigned cells, CellLists out) {
  const unsigned blocks = static_cast<unsigned>(n / kThreads);
  course::launch(count_atoms, {kCountingBlocks, kThreads}, cell_of, n, cells, out.counts);
  course::launch(find_starts, {1, kThreads}, out.counts, cells, out.starts);
  course::launch(write_atoms, {blocks, kThreads}, cell_of, n, out.starts, out.taken, out.atoms);
  course::launch(count_pairs, {course::blocks_for(cells, kThreads), kThreads}, out.starts, cells,
                 out.pairs);
}
