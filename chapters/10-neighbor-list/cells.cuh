// O(n): sort the atoms into cells, then look around in nine of them.
// Rungs: neighbors_cells, in five launches: measure_box, count_in_cells, scan_cells,
// sort_into_cells, list_from_cells. Lists are in ascending order, neighbour k of atom n in
// list[k * n_atoms + n].
#pragma once

#include <algorithm>
#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <cstddef>
#include <limits>
#include <stdexcept>

#include "cell_grid.cuh"
#include "cell_scan.cuh"
#include "distance.cuh"
#include "grid.cuh"

/// A point that one load reads.
template <class T>
struct PointOf;
template <>
struct PointOf<float> {
  using type = float2;
};
template <>
struct PointOf<double> {
  using type = double2;
};
template <class T>
using Point = typename PointOf<T>::type;

constexpr unsigned kMeasureThreads = 256;
constexpr unsigned kMeasureBlocks = 528;                // four for each SM of an H200
constexpr std::size_t kMeasured = 4 * kMeasureThreads;  // atoms of a block, or more

/// The device memory of neighbors_cells for up to n atoms. What has to be 0 before a run is 0 again
/// after it: no launch for that. One run at a time.
template <class T>
struct CellWorkspace {
  explicit CellWorkspace(std::size_t n)
      : atoms(n),
        counts(course::DeviceBuffer<int>::zeros(scan_tiles(most_cells(n)) * kScanTile)),
        starts(counts.size()),
        places(n),
        points(n),
        indices(n),
        extremes(4 * kMeasureBlocks),
        grid(1),
        measured(course::DeviceBuffer<unsigned>::zeros(1)),
        words(course::DeviceBuffer<unsigned long long>::zeros(scan_tiles(most_cells(n)))),
        ticket(course::DeviceBuffer<unsigned>::zeros(1)) {}
  ScanState scan() { return {words.data(), ticket.data()}; }

  std::size_t atoms;
  course::DeviceBuffer<int> counts, starts;  // of every cell
  course::DeviceBuffer<int> places;          // of every atom among those of its cell
  course::DeviceBuffer<Point<T>> points;     // sorted by cell
  course::DeviceBuffer<int> indices;         // of the sorted atoms
  course::DeviceBuffer<T> extremes;          // of every block
  course::DeviceBuffer<CellGrid> grid;
  course::DeviceBuffer<unsigned> measured;  // blocks that are done
  course::DeviceBuffer<unsigned long long> words;
  course::DeviceBuffer<unsigned> ticket;
};

/// v[k] becomes the largest v[k] of the block, for all its threads. Four values, two barriers.
template <class T>
__device__ void block_largest(T (&v)[4]) {
  __shared__ T s_warp[4][course::kMaxWarps];
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  __syncthreads();  // all have read what the call before this one left in s_warp
  for (int k = 0; k < 4; ++k) {
    v[k] = course::warp_reduce(v[k], course::Max{});
    if (lane == 0) s_warp[k][warp] = v[k];
  }
  __syncthreads();  // s_warp is complete
  for (int k = 0; k < 4; ++k) {
    const T none = course::Max::identity<T>();
    v[k] = course::warp_reduce(lane < blockDim.x / course::kWarpSize ? s_warp[k][lane] : none,
                               course::Max{});
  }
}

/// Tells every thread of a block whether the block is the last one to call: then it sees what
/// thread 0 of the others wrote before. *d_done is 0 before and after a launch. (Chapter 03.)
__device__ inline bool is_last_block(unsigned* d_done) {
  __shared__ bool s_is_last;
  if (threadIdx.x == 0) {
    __threadfence();  // a thread that sees me counted sees what I wrote ...
    s_is_last = atomicInc(d_done, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();  // ... and what the others wrote is there for me
  }
  __syncthreads();  // for s_is_last
  return s_is_last;
}

/// *d_grid = grid, member by member: the CPU device sees the stores of members, not of a whole.
__device__ inline void store_grid(const CellGrid& grid, CellGrid* d_grid) {
  d_grid->half_left = grid.half_left;
  d_grid->half_bottom = grid.half_bottom;
  d_grid->per_half = grid.per_half;
  d_grid->columns = grid.columns;
  d_grid->rows = grid.rows;
  d_grid->wraps_x = grid.wraps_x;
  d_grid->wraps_y = grid.wraps_y;
}

// Question: how large is the area, and how many cells does it have?
// Changes:  the largest -x, x, -y and y; the last block makes the grid of them.
// Cost:     one pass over the coordinates. The host need not wait for an answer.
template <class T>
__global__ void measure_box(Atoms<T> atoms, T limit, std::size_t most, T* d_extremes,
                            unsigned* d_done, CellGrid* d_grid) {
  constexpr T kNone = course::Max::identity<T>();
  T v[4] = {kNone, kNone, kNone, kNone};
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < atoms.n;
       i += stride) {
    const T x = atoms.x[i], y = atoms.y[i];
    const T here[4] = {-x, x, -y, y};
    for (int k = 0; k < 4; ++k) v[k] = max(v[k], here[k]);
  }
  block_largest(v);
  if (threadIdx.x == 0) {
    for (int k = 0; k < 4; ++k) d_extremes[4 * blockIdx.x + k] = v[k];
  }
  if (!is_last_block(d_done)) return;  // all threads of the block leave, or none
  for (int k = 0; k < 4; ++k) v[k] = kNone;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
    for (int k = 0; k < 4; ++k) v[k] = max(v[k], d_extremes[4 * b + k]);
  }
  block_largest(v);
  if (threadIdx.x > 0) return;
  store_grid(make_cell_grid({-v[0], v[1], -v[2], v[3]}, limit, most), d_grid);
}

// Question: how many atoms has each cell, and which index does an atom get in its cell?
// Changes:  one atomicAdd answers both: the count grows, and the value before is the index.
// Cost:     one atomic per atom, on as many addresses as there are cells: hardly any contention.
template <class T>
__global__ void count_in_cells(Atoms<T> atoms, const CellGrid* d_grid, int* d_counts,
                               int* d_places) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= atoms.n) return;
  const CellGrid grid = *d_grid;
  d_places[i] = atomicAdd(&d_counts[number_of(grid, cell_at(grid, atoms.x[i], atoms.y[i]))], 1);
}

/// How many counts scan_cells() has to scan.
struct CellsOf {
  const CellGrid* d_grid;
  __device__ std::size_t operator()() const {
    return static_cast<std::size_t>(d_grid->columns) * static_cast<std::size_t>(d_grid->rows);
  }
};

// Question: how do atoms of a cell come to be side by side?
// Changes:  start of the cell + index in the cell is a different number for every atom.
// Cost:     each coordinate is read and written once more. Also leaves the scan's state as 0.
template <class T>
__global__ void sort_into_cells(Atoms<T> atoms, const CellGrid* d_grid, const int* d_starts,
                                const int* d_places, Point<T>* d_points, int* d_indices,
                                ScanState scan, std::size_t tiles) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < tiles) scan.words[i] = 0;  // there are more atoms than tiles
  if (i == 0) *scan.ticket = 0;
  if (i >= atoms.n) return;
  const CellGrid grid = *d_grid;
  const T x = atoms.x[i], y = atoms.y[i];
  const int place = d_starts[number_of(grid, cell_at(grid, x, y))] + d_places[i];
  d_points[place] = Point<T>{x, y};
  d_indices[place] = static_cast<int>(i);
}

/// How many neighbours a thread keeps in registers.
constexpr int kKept = 8;
constexpr int kNoAtom = std::numeric_limits<int>::max();  // larger than every index

/// Puts a number among the kKept smallest ones so far, in order. No branch, no address: registers.
__device__ __forceinline__ void keep_smallest(int (&kept)[kKept], int number) {
  for (int k = 0; k < kKept; ++k) {
    const int larger = max(kept[k], number);
    kept[k] = min(kept[k], number);
    number = larger;
  }
}

/// The numbers of one list, which are a stride apart.
struct Column {
  int* first;
  std::size_t stride;
  __device__ int& operator[](std::size_t k) const { return first[k * stride]; }
};

/// Puts `number` into the heap list[0 .. size) whose top is free: no child is larger than its parent.
__device__ inline void sift_down(Column list, std::size_t top, std::size_t size, int number) {
  for (std::size_t child = 2 * top + 1; child < size; child = 2 * top + 1) {
    int larger = list[child];
    if (child + 1 < size) {
      const int other = list[child + 1];
      if (other > larger) larger = other, ++child;
    }
    if (larger <= number) break;
    list[top] = larger;
    top = child;
  }
  list[top] = number;
}

/// Sorts list[0 .. size) in place, in about 2 * size * log2(size) comparisons: heapsort.
__device__ inline void sort_list(Column list, std::size_t size) {
  for (std::size_t top = size / 2; top-- > 0;) sift_down(list, top, size, list[top]);
  for (std::size_t last = size; last-- > 1;) {
    const int number = list[last];
    list[last] = list[0];
    sift_down(list, 0, last, number);
  }
}

// Question: which atoms are near?
// Changes:  a thread looks at the nine cells around its atom only, in the order of memory, and
//           keeps the smallest eight indices in registers. With more it visits the cells once
//           more, lists all, and sorts them where they are.
// Cost:     some 12 distances per atom instead of n, however many atoms there are.
template <class T>
__global__ void list_from_cells(const Point<T>* d_points, const int* d_indices, std::size_t n,
                                const CellGrid* d_grid, const int* d_starts, T limit, Lists out) {
  const std::size_t me = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (me >= n) return;
  const CellGrid grid = *d_grid;
  const Point<T> here = d_points[me];
  const Cell cell = cell_at(grid, here.x, here.y);
  const auto atom = static_cast<std::size_t>(d_indices[me]);
  const auto for_each_near = [&](auto take) {
    visit_near_cells(grid, d_starts, cell, [&](int first, int end) {
      for (int j = first; j < end; ++j) {
        const Point<T> there = d_points[j];
        if (squared_distance(here.x, here.y, there.x, there.y) < limit &&
            j != static_cast<int>(me)) {
          take(d_indices[j]);
        }
      }
    });
  };
  int count = 0, kept[kKept];
  for (int k = 0; k < kKept; ++k) kept[k] = kNoAtom;
  for_each_near([&](int index) { ++count, keep_smallest(kept, index); });
  out.counts[atom] = count;
  const std::size_t to_list = min(static_cast<std::size_t>(count), out.capacity);
  for (std::size_t k = 0; k < kKept; ++k) {
    if (k < to_list) out.list[k * n + atom] = kept[k];
  }
  if (to_list <= kKept) return;
  const Column list{out.list + atom, n};
  std::size_t listed = 0;
  for_each_near([&](int index) {
    if (listed < to_list) list[listed++] = index;
  });
  sort_list(list, to_list);
}

/// Makes the lists of all atoms, ascending, neighbour k of atom n in list[k * atoms.n + n]. The
/// workspace has to be for that many atoms or more (std::invalid_argument).
template <class T>
void neighbors_cells(Atoms<T> atoms, T limit, Lists out, CellWorkspace<T>& work,
                     cudaStream_t stream) {
  check_number_of_atoms(atoms.n);
  if (atoms.n > work.atoms) throw std::invalid_argument("the workspace is for fewer atoms");
  if (atoms.n == 0) return;
  const std::size_t most = most_cells(atoms.n);
  const unsigned tiles = scan_tiles(most), blocks = blocks_for(atoms.n);
  const unsigned measuring = std::min(course::blocks_for(atoms.n, kMeasured), kMeasureBlocks);
  course::launch(measure_box<T>, {measuring, kMeasureThreads, 0, stream}, atoms, limit, most,
                 work.extremes.data(), work.measured.data(), work.grid.data());
  course::launch(count_in_cells<T>, {blocks, kBlockSize, 0, stream}, atoms, work.grid.data(),
                 work.counts.data(), work.places.data());
  course::launch(scan_cells<CellsOf>, {tiles, kScanThreads, 0, stream}, work.counts.data(),
                 work.starts.data(), CellsOf{work.grid.data()}, work.scan());
  course::launch(sort_into_cells<T>, {blocks, kBlockSize, 0, stream}, atoms, work.grid.data(),
                 work.starts.data(), work.places.data(), work.points.data(), work.indices.data(),
                 work.scan(), tiles);
  course::launch(list_from_cells<T>, {blocks, kBlockSize, 0, stream}, work.points.data(),
                 work.indices.data(), atoms.n, work.grid.data(), work.starts.data(), limit, out);
}
