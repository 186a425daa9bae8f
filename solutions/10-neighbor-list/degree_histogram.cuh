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

constexpr int kDegrees = 12;  // 0, 1, ..., 10, and "11 or more"

/// Adds the number of atoms with k neighbours to atoms_with[k], for k from 0 to 10, and of those
/// with 11 or more to atoms_with[11].
/// - counts[i] >= 0 is the number of neighbours of atom i.
/// - atoms_with may hold counts already; they stay counted.
/// - A block makes at most one atomic on each of the 12 elements of atoms_with.
/// - Right for every one-dimensional grid, with blocks of any size from 1 to 1024 threads. The
///   threads share the work.
__global__ void degree_histogram(const int* counts, std::size_t n, unsigned* atoms_with) {
  __shared__ unsigned s_atoms_with[kDegrees];
  for (unsigned k = threadIdx.x; k < kDegrees; k += blockDim.x) s_atoms_with[k] = 0;
  __syncthreads();  // all are 0 before anybody counts
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    atomicAdd(&s_atoms_with[min(counts[i], kDegrees - 1)], 1u);
  }
  __syncthreads();  // all have counted
  for (unsigned k = threadIdx.x; k < kDegrees; k += blockDim.x) {
    if (s_atoms_with[k] > 0) atomicAdd(&atoms_with[k], s_atoms_with[k]);
  }
}
