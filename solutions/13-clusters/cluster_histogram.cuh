// Exercise cluster_histogram: more bins than one block's shared memory holds.
//
// Try it: ./course check cluster_histogram
#pragma once

#include <course/cluster.cuh>
#include <course/exercise.cuh>
#include <cstddef>

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
  extern __shared__ unsigned s_counts[];
  const auto cluster = course::this_cluster();
  const unsigned part = (num_bins + cluster.num_blocks() - 1) / cluster.num_blocks();
  for (unsigned i = threadIdx.x; i < part; i += blockDim.x) s_counts[i] = 0;
  cluster.sync();  // all blocks have begun, and all counters are 0
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    const unsigned key = keys[i];
    if (key >= num_bins) continue;
    unsigned* const s_owner = cluster.map_shared_rank(s_counts, static_cast<int>(key / part));
    atomicAdd(s_owner + key % part, 1u);
  }
  cluster.sync();  // all keys are counted: no block leaves before
  const unsigned first = cluster.block_rank() * part;
  for (unsigned i = threadIdx.x; i < part; i += blockDim.x) {
    if (s_counts[i] != 0) atomicAdd(bins + first + i, s_counts[i]);
  }
}
