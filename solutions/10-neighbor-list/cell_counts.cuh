// Exercise cell_counts: count the atoms in the cells of a periodic box, and find the fullest cell.
//
// A simulation's box often repeats without end: what leaves on the right comes in on the left.
// Count the atoms of each cell, give each atom a place of its own in its cell, and find out how
// many atoms the fullest cell has. A program that gives each cell an array of fixed length needs to
// know.
//
// Try it: ./course check cell_counts
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

/// A box of columns * rows square cells, its lower left corner at (0, 0). It repeats.
struct Box {
  float edge;  // of a cell
  int columns, rows;
};

/// The cell of a point, row * columns + column, wherever the point is. Given, and right.
__device__ inline int cell_of(Box box, float x, float y) {
  const int column = static_cast<int>(floorf(x / box.edge)) % box.columns;
  const int row = static_cast<int>(floorf(y / box.edge)) % box.rows;
  return (row < 0 ? row + box.rows : row) * box.columns +
         (column < 0 ? column + box.columns : column);
}

/// Counts n atoms.
/// - counts[c] grows by the number of atoms in cell c. It may count those of earlier launches.
/// - places[i] is the place of atom i in its cell. If counts[c] is 5 before the launch, the new
///   atoms of cell c get the places 5, 6, 7, ..., each once, in any order.
/// - *fullest becomes the largest count, after the launch, of a cell that got an atom in it; if
///   *fullest is larger already, it stays as it is.
/// - At most one atomic per atom on counts, and at most one per warp on *fullest, however many
///   atoms the warp takes.
/// - Right for every one-dimensional grid, in blocks of a multiple of 32 threads. The threads share
///   the work.
__global__ void cell_counts(const float* x, const float* y, std::size_t n, Box box, int* counts,
                            int* places, int* fullest) {
  int most = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const int place = atomicAdd(&counts[cell_of(box, x[i], y[i])], 1);
    places[i] = place;
    most = max(most, place + 1);  // the last one to come to the fullest cell finds its final count
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    most = max(most, __shfl_xor_sync(0xffffffffu, most, distance));
  }
  if (threadIdx.x % 32 == 0 && most > 0) atomicMax(fullest, most);
}
