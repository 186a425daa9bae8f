// Exercise cluster_max: the largest number of each cluster, in one store per cluster.
//
// Try it: ./course check cluster_max
#pragma once

#include <cmath>
#include <course/cluster.cuh>
#include <course/collectives.cuh>
#include <course/exercise.cuh>
#include <cstddef>

NOT_STARTED  // delete this line when you begin

/// Sets maxima[c], for every cluster c of the grid, to the largest of the cluster's elements of
/// x[0..n-1]. There is no NaN among them.
/// - Element i belongs to thread i % (gridDim.x * blockDim.x) of the grid, as in a grid-stride loop.
/// - The grid is one-dimensional. A cluster has 1 to 8 blocks that follow each other, a block a
///   multiple of 32 threads. n may be 0, and a block may have no element.
/// - A cluster without elements writes -INFINITY.
/// - The blocks of a cluster meet in shared memory: no atomic, and one store to maxima per cluster.
__global__ void cluster_max(const float* x, std::size_t n, float* maxima) {
  // TODO(you): find the largest number of all blocks of the cluster.
  float largest = -INFINITY;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    largest = fmaxf(largest, x[i]);
  }
  largest = course::block_reduce(largest, course::Max{});
  if (threadIdx.x == 0) maxima[blockIdx.x] = largest;
}
