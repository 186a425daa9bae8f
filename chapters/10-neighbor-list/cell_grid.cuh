// Squares as wide as the cutoff: what is near an atom lies in its own cell or in the eight around.
// Where the cells of an area would be far more than atoms, distant cells share memory.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

/// The smallest rectangle around the atoms.
struct Box {
  double min_x, max_x, min_y, max_y;
};

/// The cells over a box. A cell's number is row * columns + column. If a direction wraps, memory
/// has fewer columns (rows) than the box, and column c of the box is column c % columns of the
/// memory: atoms from far away then share a cell, are looked at, and are found to be too far away.
struct CellGrid {
  double half_left, half_bottom;  // half of the box's smallest x and y
  double per_half;                // cells in a length of 2
  int columns, rows;
  int wraps_x, wraps_y;
};

/// How many cells the memory for n atoms has at most: in proportion to n, however large the box is.
inline std::size_t most_cells(std::size_t n) {
  return std::min(std::max(2 * n, std::size_t{64}), std::size_t{1} << 30);
}

namespace detail {

/// How many cells lie between the box's edge and a coordinate. Coordinates are halved first: the
/// difference of two doubles may be too large for a double. Rounding never puts a larger
/// coordinate into an earlier cell.
__host__ __device__ __forceinline__ long long cells_before(double coordinate, double half_edge,
                                                           double per_half) {
  return static_cast<long long>((0.5 * coordinate - half_edge) * per_half);
}

}  // namespace detail

/// The grid for pairs whose squared distance is below `limit`, with at most `most` >= 64 cells.
/// A cell is a little wider than the cutoff, so that no rounding puts two neighbours further
/// apart than into adjacent cells; 2^36 cells in a row are the most for which that holds.
__host__ __device__ inline CellGrid make_cell_grid(Box box, double limit, std::size_t most) {
  const double half_width = 0.5 * box.max_x - 0.5 * box.min_x;
  const double half_height = 0.5 * box.max_y - 0.5 * box.min_y;
  const double longer = half_width > half_height ? half_width : half_height;
  double half_cell = 0.5 * sqrt(limit) * (1 + 0x1p-10);
  if (half_cell < longer * 0x1p-36) half_cell = longer * 0x1p-36;

  CellGrid grid{0.5 * box.min_x, 0.5 * box.min_y, 1 / half_cell, 0, 0, 0, 0};
  const auto wide = 1 + detail::cells_before(box.max_x, grid.half_left, grid.per_half);
  const auto high = 1 + detail::cells_before(box.max_y, grid.half_bottom, grid.per_half);
  const auto limit_of_cells = static_cast<long long>(most);
  long long columns = wide, rows = high;
  if (static_cast<double>(wide) * static_cast<double>(high) > static_cast<double>(most)) {
    const auto root = static_cast<long long>(sqrt(static_cast<double>(most)));  // 8 or more
    columns = wide < root ? wide : root;
    rows = high < limit_of_cells / columns ? high : limit_of_cells / columns;
    columns = wide < limit_of_cells / rows ? wide : limit_of_cells / rows;
  }
  grid.columns = static_cast<int>(columns);
  grid.rows = static_cast<int>(rows);
  grid.wraps_x = wide > columns;
  grid.wraps_y = high > rows;
  return grid;
}

/// A cell, by column and row in memory.
struct Cell {
  int column, row;
};

template <class T>
__host__ __device__ __forceinline__ Cell cell_at(const CellGrid& grid, T x, T y) {
  long long column = detail::cells_before(x, grid.half_left, grid.per_half);
  long long row = detail::cells_before(y, grid.half_bottom, grid.per_half);
  if (grid.wraps_x) column %= grid.columns;
  if (grid.wraps_y) row %= grid.rows;
  return {static_cast<int>(column), static_cast<int>(row)};
}

__host__ __device__ __forceinline__ int number_of(const CellGrid& grid, Cell cell) {
  return cell.row * grid.columns + cell.column;
}

/// Calls visit(first, end) for the runs of sorted atoms in the nine cells around `cell`, each cell
/// once. Cells of a row are neighbours in memory, so a row is one run, or two where it wraps.
/// starts[c] is the first atom of cell c, starts[c + 1] the first one after it.
#ifdef __CUDACC__
#pragma nv_exec_check_disable  // visit is the host's in host code, and the device's in a kernel
#endif
template <class Visit>
__host__ __device__ __forceinline__ void visit_near_cells(const CellGrid& grid, const int* starts,
                                                          Cell cell, Visit visit) {
  const int left = cell.column > 0 ? cell.column - 1 : 0;
  const int right = cell.column + 1 < grid.columns ? cell.column + 1 : cell.column;
  for (int step = -1; step <= 1; ++step) {
    int row = cell.row + step;
    if (row < 0 || row >= grid.rows) {
      if (!grid.wraps_y) continue;
      row += row < 0 ? grid.rows : -grid.rows;
    }
    const int* const in_row = starts + row * grid.columns;
    visit(in_row[left], in_row[right + 1]);
    if (grid.wraps_x && (cell.column == 0 || cell.column + 1 == grid.columns)) {
      const int beyond = cell.column == 0 ? grid.columns - 1 : 0;  // 8 columns or more: a third one
      visit(in_row[beyond], in_row[beyond + 1]);
    }
  }
}
