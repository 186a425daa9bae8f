// Exercise degree_histogram: how many atoms have no neighbour, one, two, three, ...?
//
// In a sheet of graphene nearly all atoms have three. So nearly all threads add to the same
// counter: a million atomics on one address.
//
// Try it: ./course check degree_histogram
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

constexpr int kDegrees = 12;  // 0, 1, ..., 10, and "11 or more"

/// Adds the number of atoms with k neighbours to atoms_with[k], for k from 0 to 10, and of those
/// with 11 or more to atoms_with[11].
/// - counts[i] >= 0 is the number of neighbours of atom i.
/// - atoms_with may hold counts already; they stay counted.
/// - A block makes at most one atomic on each of the 12 elements of atoms_with.
/// - Right for every one-dimensional grid, with blocks of any size from 1 to 1024 threads. The
///   threads share the work.
__global__ void degree_histogram(const int* counts, std::size_t n, unsigned* atoms_with) {
  // TODO(you): count the atoms of each degree.
  (void)counts, (void)n, (void)atoms_with;  // delete this
}
