// Exercise triplets_atomic: every angle between two bonds, appended to one list.
//
// Two neighbours of an atom and the atom between them are a triplet. It has an angle, on which the
// forces between carbon atoms depend. An atom with 3 neighbours is in the middle of 3 triplets.
// Append the triplets of all atoms to one list, and count how long the list has to be.
//
// Try it: ./course check triplets_atomic
#pragma once

#include <course/error.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// Two bonds that meet in an atom.
struct Triplet {
  int first, middle, last;  // atoms; first comes before last in the list of middle
  float cosine;             // of the angle at middle
};

/// The cosine of the angle at m between the bonds to a and b. Given, and right.
__device__ inline float cosine_at(const float* x, const float* y, int m, int a, int b) {
  const float ax = x[a] - x[m], ay = y[a] - y[m], bx = x[b] - x[m], by = y[b] - y[m];
  return (ax * bx + ay * by) * rsqrtf((ax * ax + ay * ay) * (bx * bx + by * by));
}

/// Appends all triplets of n atoms.
/// - Atom m has counts[m] < 2^15 neighbours; neighbour k is list[k * n + m]. No list is cut short.
/// - A triplet for every two positions j < k of an atom's list: {neighbour j, m, neighbour k,
///   cosine_at(...)}.
/// - *required counts all triplets, whether there is room for them or not: it becomes the capacity
///   that would have been enough. It may be far larger than `capacity`, and stays below 2^32.
/// - It appends: *required may count earlier triplets already, which are not overwritten.
/// - Elements below `capacity` that are needed are filled, each once, in any order.
/// - triplets[capacity] and what follows is not written, however many triplets there are.
/// - At most one atomic per atom that has triplets, and no others.
/// - Right for every one-dimensional grid, with blocks of any size from 1 to 1024 threads. The
///   threads share the work.
__global__ void append_triplets(const float* x, const float* y, const int* counts, const int* list,
                                std::size_t n, Triplet* triplets, unsigned capacity,
                                unsigned* required) {
  // TODO(you): append the triplets of every atom.
  (void)x, (void)y, (void)counts, (void)list, (void)n;  // delete this
  (void)triplets, (void)capacity, (void)required;       // and this
}
