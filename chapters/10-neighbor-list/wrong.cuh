// Two ways to write neighbors_atomic that compile, and are wrong.
// Rungs, wrong on purpose: atomic_zeroed_inside, atomic_value_ignored.
#pragma once

#include <cstddef>

#include "atomic.cuh"
#include "distance.cuh"
#include "grid.cuh"

// Question: may the kernel zero the counts itself, as the book's first edition did?
// Changes:  thread n1 sets counts[n1] = 0 before its loop.
// Cost:     another block may have appended to that list already: its neighbours are forgotten.
template <class T>
__global__ void atomic_zeroed_inside(Atoms<T> atoms, T limit, Lists out) {
  const std::size_t n1 = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (n1 >= atoms.n) return;
  out.counts[n1] = 0;  // wrong on purpose: no barrier holds back the other blocks
  const T x1 = atoms.x[n1], y1 = atoms.y[n1];
  for (std::size_t n2 = n1 + 1; n2 < atoms.n; ++n2) {
    if (squared_distance(x1, y1, atoms.x[n2], atoms.y[n2]) < limit) {
      append(out, n1, n2);
      append(out, n2, n1);
    }
  }
}

/// Wrong on purpose: others append between the look at the count and the addition.
__device__ __forceinline__ void append_where_it_stood(const Lists& out, std::size_t atom,
                                                      std::size_t neighbor) {
  const auto place = static_cast<std::size_t>(out.counts[atom]);
  if (place < out.capacity) out.list[atom * out.capacity + place] = static_cast<int>(neighbor);
  atomicAdd(&out.counts[atom], 1);
}

// Question: is it enough that the addition is atomic?
// Changes:  the index is read from the counter, and what atomicAdd returns is ignored.
// Cost:     the counts are right, but one neighbour overwrites another.
template <class T>
__global__ void atomic_value_ignored(Atoms<T> atoms, T limit, Lists out) {
  const std::size_t n1 = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (n1 >= atoms.n) return;
  const T x1 = atoms.x[n1], y1 = atoms.y[n1];
  for (std::size_t n2 = n1 + 1; n2 < atoms.n; ++n2) {
    if (squared_distance(x1, y1, atoms.x[n2], atoms.y[n2]) < limit) {
      append_where_it_stood(out, n1, n2);
      append_where_it_stood(out, n2, n1);
    }
  }
}
