// Exercise cell_counts: atoms into the cells of a box that repeats, and the fullest cell.
//
// A simulation's box often repeats for ever: what leaves on the right comes in on the left. Count
// the atoms of each cell, give each atom a place of its own in its cell, and find out how many
// atoms the fullest cell has: whoever gives each cell an array of fixed length has to know.
//
// Try it: meson test -C build cell_counts
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

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
/// - counts[c] grows by the number of atoms in cell c. It holds those of earlier launches already.
/// - places[i] is the place of atom i in its cell: those of a cell's atoms are counts[c] before the
///   launch, and the numbers behind it without a gap, each once; the order is free.
/// - *fullest becomes the largest count that a cell with an atom of this launch has after it, or
///   stays as it is if it is larger already.
/// - At most one atomic an atom on counts. On *fullest at most one a warp, however many atoms it
///   looks at.
/// - Right for every one-dimensional grid, in blocks of a multiple of 32 threads. The threads share
///   the work.
__global__ void cell_counts(const float* x, const float* y, std::size_t n, Box box, int* counts,
                            int* places, int* fullest) {
  // TODO(you): what does the atomicAdd that counts an atom return, and what does that tell?
  (void)x, (void)y, (void)n, (void)box, (void)counts, (void)places, (void)fullest;  // delete this
}
