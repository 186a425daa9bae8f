// How does a block use the shared memory of another block of its cluster?
// Kernels: sum_of_cluster, which reads there; count_at_owner, which makes atomics there. They have a cluster
// of few threads, so that a picture can show every access, and are not timed.
#pragma once

#include <course/buffer.cuh>
#include <course/cluster.cuh>
#include <course/launch.cuh>
#include <vector>

constexpr unsigned kSummingBlocks = 4;   // of a cluster, and threads of a block: one thread per sum
constexpr unsigned kCountingBlocks = 2;  // of a cluster
constexpr unsigned kCountingThreads = 8;
constexpr unsigned kOwnedBins = 4;  // per block

// Question: how does one block read what all blocks of its cluster have in shared memory?
// Changes:  nothing yet: each block sums its numbers, then block 0 reads the sums of all blocks.
// Cost:     two barriers of the cluster, and a load from another SM's shared memory per block.
__global__ void sum_of_cluster(const int* d_x, int* d_sum) {
  __shared__ int s_sum;  // each block has its own
  const auto cluster = course::this_cluster();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) s_sum = 0;
  __syncthreads();  // s_sum is 0
  atomicAdd(&s_sum, d_x[i]);
  cluster.sync();  // all blocks have begun, and their sums are there
  if (cluster.block_rank() == 0) {
    const auto rank = static_cast<int>(threadIdx.x);
    const int theirs = *cluster.map_shared_rank(&s_sum, rank);
    atomicAdd(d_sum, theirs);
  }
  cluster.sync();  // block 0 has read all sums: the others may leave
}

// Question: how do two blocks share one histogram that is too large for either of them?
// Changes:  each block owns one half of the bins; a value is counted in its owner's shared memory.
// Cost:     half of the atomics go to the shared memory of another SM.
__global__ void count_at_owner(const unsigned* d_values, unsigned* d_bins) {
  __shared__ unsigned s_bins[kOwnedBins];  // of this block
  const auto cluster = course::this_cluster();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x < kOwnedBins) s_bins[threadIdx.x] = 0;
  cluster.sync();  // all blocks have begun, and all bins are 0
  const unsigned value = d_values[i];
  const unsigned bin = value % kOwnedBins;                 // in the shared memory of its owner
  const auto rank = static_cast<int>(value / kOwnedBins);  // of the owner
  atomicAdd(cluster.map_shared_rank(s_bins + bin, rank), 1u);
  cluster.sync();  // all values are counted: no block leaves before
  if (threadIdx.x >= kOwnedBins) return;
  const unsigned first = cluster.block_rank() * kOwnedBins;
  d_bins[first + threadIdx.x] = s_bins[threadIdx.x];
}

/// The sum of sixteen numbers, by one cluster.
inline int launch_sum_of_cluster(const std::vector<int>& x) {
  const auto d_x = course::DeviceBuffer<int>::from(x);
  auto d_sum = course::DeviceBuffer<int>::zeros(1);
  course::launch(sum_of_cluster,
                 {.blocks = kSummingBlocks, .threads = kSummingBlocks, .cluster = kSummingBlocks},
                 d_x.data(), d_sum.data());
  return d_sum.front();
}

/// How often sixteen values are 0, 1, ..., 7, by one cluster.
inline std::vector<unsigned> launch_count_at_owner(const std::vector<unsigned>& values) {
  const auto d_values = course::DeviceBuffer<unsigned>::from(values);
  auto d_bins = course::DeviceBuffer<unsigned>::zeros(kCountingBlocks * kOwnedBins);
  course::launch(
      count_at_owner,
      {.blocks = kCountingBlocks, .threads = kCountingThreads, .cluster = kCountingBlocks},
      d_values.data(), d_bins.data());
  return d_bins.download();
}
