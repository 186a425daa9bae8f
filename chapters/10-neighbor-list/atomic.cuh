// Each pair once: it goes into two lists, to which other threads may be appending, too.
// Rungs: neighbors_atomic. Neighbour k of atom n is list[n * capacity + k].
#pragma once

#include <course/launch.cuh>
#include <cstddef>

#include "distance.cuh"
#include "grid.cuh"

/// Appends `neighbor` to the list of `atom`, at an index that no other thread gets.
__device__ __forceinline__ void append(const Lists& out, std::size_t atom, std::size_t neighbor) {
  const int place = atomicAdd(&out.counts[atom], 1);  // the value before: this index is mine
  if (static_cast<std::size_t>(place) < out.capacity) {
    out.list[atom * out.capacity + static_cast<std::size_t>(place)] = static_cast<int>(neighbor);
  }
}

// Question: how do threads share lists, if each looks at half of the pairs only?
// Changes:  thread n1 looks at the atoms after n1, and appends to both lists with atomicAdd.
// Cost:     n (n - 1) / 2 distances; two atomics per bond. The first thread has n - 1 of the
//           distances, the last has none.
template <class T>
__global__ void neighbors_atomic(Atoms<T> atoms, T limit, Lists out, Slice slice) {
  const std::size_t n1 = slice.first + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (n1 >= slice.last) return;
  const T x1 = atoms.x[n1], y1 = atoms.y[n1];
  for (std::size_t n2 = n1 + 1; n2 < atoms.n; ++n2) {
    if (squared_distance(x1, y1, atoms.x[n2], atoms.y[n2]) < limit) {
      append(out, n1, n2);
      append(out, n2, n1);
    }
  }
}

/// Appends the neighbours of all pairs (n1, n2 > n1) with n1 in the slice. The caller sets counts
/// to 0 before the first slice: a kernel could not tell the other blocks that it has done so. The
/// order within a list is unspecified.
template <class T>
void launch_neighbors_atomic(Atoms<T> atoms, T limit, Lists out, Slice slice,
                             cudaStream_t stream = nullptr) {
  course::launch(neighbors_atomic<T>, {blocks_for(atoms, slice), kBlockSize, 0, stream}, atoms,
                 limit, out, slice);
}
