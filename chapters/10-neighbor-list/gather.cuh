// Each pair twice: every thread looks at all atoms, and owns its list alone.
// Rungs: gather_global_count, gather_restrict, gather_rows, gather_self_first and
// gather_distance_first (both are gather_columns), neighbors_gather. Their lists are in ascending
// order, because the loop is. The first three put neighbour k of atom n into
// list[n * capacity + k], the others into list[k * n + n1].
#pragma once

#include <course/launch.cuh>
#include <cstddef>

#include "distance.cuh"
#include "grid.cuh"

// Question: what if a thread writes to its own list only?
// Changes:  thread n1 looks at all atoms but itself, and no other thread touches list n1: no atomics.
// Cost:     twice the distances. The count is in global memory: a load and a store per neighbour.
template <class T>
__global__ void gather_global_count(Atoms<T> atoms, T limit, Lists out, Slice slice) {
  const std::size_t n1 = slice.first + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (n1 >= slice.last) return;
  const T x1 = atoms.x[n1], y1 = atoms.y[n1];
  out.counts[n1] = 0;
  for (std::size_t n2 = 0; n2 < atoms.n; ++n2) {
    if (squared_distance(x1, y1, atoms.x[n2], atoms.y[n2]) < limit && n2 != n1) {
      const int place = out.counts[n1]++;  // mine alone: += is enough
      if (static_cast<std::size_t>(place) < out.capacity) {
        out.list[n1 * out.capacity + static_cast<std::size_t>(place)] = static_cast<int>(n2);
      }
    }
  }
}

// Question: what if the compiler knows that counts and list do not overlap?
// Changes:  __restrict__ promises that what these two pointers reach, nothing else reaches.
// Cost:     no load of the count: nvcc 13.0 keeps its value in a register, and stores it for each
//           neighbour. It also loads the coordinates of several atoms before it stores a neighbour.
template <class T>
__global__ void gather_restrict(Atoms<T> atoms, T limit, Lists out, Slice slice) {
  int* const __restrict__ counts = out.counts;
  int* const __restrict__ list = out.list;
  const std::size_t n1 = slice.first + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (n1 >= slice.last) return;
  const T x1 = atoms.x[n1], y1 = atoms.y[n1];
  counts[n1] = 0;
  for (std::size_t n2 = 0; n2 < atoms.n; ++n2) {
    if (squared_distance(x1, y1, atoms.x[n2], atoms.y[n2]) < limit && n2 != n1) {
      const int place = counts[n1]++;
      if (static_cast<std::size_t>(place) < out.capacity) {
        list[n1 * out.capacity + static_cast<std::size_t>(place)] = static_cast<int>(n2);
      }
    }
  }
}

// Question: what does it gain to count in a register?
// Changes:  the count is a local variable, stored once at the end.
// Cost:     one store of a count per atom.
template <class T>
__global__ void gather_rows(Atoms<T> atoms, T limit, Lists out, Slice slice) {
  const std::size_t n1 = slice.first + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (n1 >= slice.last) return;
  const T x1 = atoms.x[n1], y1 = atoms.y[n1];
  int count = 0;
  for (std::size_t n2 = 0; n2 < atoms.n; ++n2) {
    if (squared_distance(x1, y1, atoms.x[n2], atoms.y[n2]) < limit && n2 != n1) {
      const auto place = static_cast<std::size_t>(count++);
      if (place < out.capacity) out.list[n1 * out.capacity + place] = static_cast<int>(n2);
    }
  }
  out.counts[n1] = count;
}

/// Which side of the && comes first in the source.
enum class First { self, distance };

// Question: does the order of an && matter, and where should neighbour k of atom n be?
// Changes:  list[k * n + n1]: the k-th neighbours of 32 atoms of a warp lie side by side. `first`
//           says whether the distance or n2 != n1 is looked at first.
// Cost:     as before; 4 sectors for 32 neighbours where all lanes store, and not up to 32.
template <First first, class T>
__global__ void gather_columns(Atoms<T> atoms, T limit, Lists out, Slice slice) {
  const std::size_t n1 = slice.first + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (n1 >= slice.last) return;
  const T x1 = atoms.x[n1], y1 = atoms.y[n1];
  int count = 0;
  for (std::size_t n2 = 0; n2 < atoms.n; ++n2) {
    bool near;
    if constexpr (first == First::distance) {
      near = squared_distance(x1, y1, atoms.x[n2], atoms.y[n2]) < limit && n2 != n1;
    } else {
      near = n2 != n1 && squared_distance(x1, y1, atoms.x[n2], atoms.y[n2]) < limit;
    }
    if (near) {
      const auto place = static_cast<std::size_t>(count++);
      if (place < out.capacity) out.list[place * atoms.n + n1] = static_cast<int>(n2);
    }
  }
  out.counts[n1] = count;
}

// Question: a block's threads go through the same atoms in the same order. Must each load them?
// Changes:  each thread loads one atom of a tile into shared memory; all look at the tile there.
// Cost:     two barriers per tile, also for threads without an atom of their own.
template <class T>
__global__ void neighbors_gather(Atoms<T> atoms, T limit, Lists out, Slice slice) {
  __shared__ T s_x[kBlockSize], s_y[kBlockSize];
  const std::size_t n1 = slice.first + std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const bool has_atom = n1 < slice.last;
  const T x1 = has_atom ? atoms.x[n1] : 0, y1 = has_atom ? atoms.y[n1] : 0;
  int count = 0;
  for (std::size_t first = 0; first < atoms.n; first += kBlockSize) {
    const std::size_t mine = first + threadIdx.x;
    __syncthreads();  // all have looked at the tile before this one
    if (mine < atoms.n) {
      s_x[threadIdx.x] = atoms.x[mine];
      s_y[threadIdx.x] = atoms.y[mine];
    }
    __syncthreads();  // the tile is complete
    const unsigned size = atoms.n - first < kBlockSize ? atoms.n - first : kBlockSize;
    for (unsigned k = 0; has_atom && k < size; ++k) {
      if (squared_distance(x1, y1, s_x[k], s_y[k]) < limit && first + k != n1) {
        const auto place = static_cast<std::size_t>(count++);
        if (place < out.capacity) out.list[place * atoms.n + n1] = static_cast<int>(first + k);
      }
    }
  }
  if (has_atom) out.counts[n1] = count;
}

/// Makes the lists of the atoms of the slice, neighbour k of atom n in list[k * atoms.n + n].
template <class T>
void launch_neighbors_gather(Atoms<T> atoms, T limit, Lists out, Slice slice,
                             cudaStream_t stream = nullptr) {
  course::launch(neighbors_gather<T>, {blocks_for(atoms, slice), kBlockSize, 0, stream}, atoms,
                 limit, out, slice);
}
