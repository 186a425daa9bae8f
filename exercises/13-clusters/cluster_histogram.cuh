// Exercise cluster_histogram: more bins than one block's shared memory holds.
//
// Try it: ./course check cluster_histogram
#pragma once

#include <course/cluster.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// bins[b] += how many of keys[0..n-1] are b, for every b below num_bins. Other keys are not counted.
/// - The grid is one-dimensional. A cluster has 1 to 8 blocks that follow each other, a block a
///   multiple of 32 threads. The threads of the grid share the keys. n may be 0; num_bins is 1 or more.
/// - The launch gives each block dynamic shared memory for ceil(num_bins / blocks of a cluster)
///   counters. Each bin is counted by one block of the cluster, in at most one atomic on its shared
///   memory per key.
/// - A cluster makes at most one atomic on global memory for each bin, and none if it has counted
///   nothing there.
__global__ void cluster_histogram(const unsigned* keys, std::size_t n, unsigned num_bins,
                                  unsigned* bins) {
  // TODO(you): count in the shared memory of the cluster.
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (keys[i] < num_bins) atomicAdd(bins + keys[i], 1u);
  }
}
