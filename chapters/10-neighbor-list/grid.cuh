// The grid that the rungs of this chapter use: one thread per atom, or per cell.
#pragma once

#include <course/grid.cuh>
#include <cstddef>

#include "distance.cuh"

constexpr unsigned kBlockSize = 128;

/// Blocks of kBlockSize threads that give each of n atoms a thread of its own. n == 0 gives 0:
/// course::launch() does nothing then.
inline unsigned blocks_for(std::size_t n) { return course::blocks_for(n, kBlockSize); }

/// The same for the atoms of a slice. Throws std::length_error if the atoms cannot be numbered.
template <class T>
unsigned blocks_for(const Atoms<T>& atoms, Slice slice) {
  check_number_of_atoms(atoms.n);
  return slice.first < slice.last ? blocks_for(slice.last - slice.first) : 0;
}
