// A chain of ten small kernels, each of which needs all of the one before: what do the launches cost?
// Rungs: chain_host_waits, chain_launches, chain_graph and chain_dependent_launch are the same ten kernels, launched
// in four ways; chain_grid_sync, chain_queue and chain_fused are one kernel that makes all ten steps.
//
// A step replaces each number by the sum of it and its two neighbours; beyond both ends there are zeros.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>
#include <course/error.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <course/rungs.cuh>
#include <cstddef>
#include <cuda/atomic>
#include <vector>

#include "launches.cuh"

constexpr unsigned kChainSteps = 10;
constexpr unsigned kChainBlock = 256;  // threads, and numbers of a tile

/// What every chain gets. Step s reads what step s - 1 has written: the arrays of d_y take turns.
struct ChainInput {
  const float* d_x;  // n numbers, only read
  unsigned n;
  float* d_y[2];  // n numbers each; the last step writes d_y[1]

  __device__ const float* read_by(unsigned step) const {
    return step == 0 ? d_x : d_y[(step - 1) % 2];
  }
  __device__ float* written_by(unsigned step) const { return d_y[step % 2]; }
};

/// What the step makes of number i.
__device__ __forceinline__ float sum_of_three(const float* d_x, unsigned n, unsigned i) {
  return (i > 0 ? d_x[i - 1] : 0) + d_x[i] + (i + 1 < n ? d_x[i + 1] : 0);
}

// Question: what do ten launches cost that have hardly anything to do?
// Changes:  one step; the next launch makes the next one. The first two lines change nothing unless the launches are
//           dependent ones.
// Cost:     a launch per step.
__global__ void __launch_bounds__(kChainBlock) chain_step(ChainInput in, unsigned step) {
#if HAS_DEPENDENT_LAUNCH
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
  const unsigned i = blockIdx.x * kChainBlock + threadIdx.x;
  if (i < in.n) in.written_by(step)[i] = sum_of_three(in.read_by(step), in.n, i);
}

// Question: and one barrier of the whole grid per step?
// Changes:  one cooperative kernel makes all steps.
// Cost:     grid.sync() per step: each block waits for all others, although it needs two of them.
__global__ void __launch_bounds__(kChainBlock) chain_grid_sync(ChainInput in) {
  for (unsigned step = 0; step < kChainSteps; ++step) {
    if (step > 0) cooperative_groups::this_grid().sync();  // the step before is complete
    for (unsigned i = blockIdx.x * kChainBlock + threadIdx.x; i < in.n;
         i += gridDim.x * kChainBlock) {
      in.written_by(step)[i] = sum_of_three(in.read_by(step), in.n, i);
    }
  }
}

/// Work for a kernel that stays: item k is step k / tiles of tile k % tiles. The counters are never set back; launch
/// number `launch` begins where the one before it ended.
struct ChainQueue {
  unsigned* d_next;  // the next item to draw
  unsigned* d_done;  // for each tile: how many steps it has made, in all launches
  unsigned launch;   // from 0
};

// Question: and if a block waits only for what it needs?
// Changes:  a persistent kernel: each block draws an item from a queue, waits for the step before of this tile and of
//           its two neighbours, and draws again. It waits for items that were drawn before its own, so there is always
//           a block that waits for none.
// Cost:     an atomic, three loads with acquire and a store with release per item, and three barriers of the block.
__global__ void __launch_bounds__(kChainBlock) chain_queue(ChainInput in, ChainQueue queue) {
  using Counter = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
  __shared__ unsigned s_item;
  const unsigned tiles = (in.n + kChainBlock - 1) / kChainBlock, items = kChainSteps * tiles;
  // Each block of the launches before has drawn one item too many, and ended.
  const unsigned first_item = queue.launch * (items + gridDim.x);
  const unsigned steps_before = queue.launch * kChainSteps;
  while (true) {
    if (threadIdx.x == 0) s_item = atomicAdd(queue.d_next, 1u) - first_item;
    __syncthreads();  // all threads read s_item
    const unsigned item = s_item;
    if (item >= items) return;
    const unsigned step = item / tiles, tile = item % tiles;
    if (threadIdx.x < 3 && tile + threadIdx.x >= 1 && tile + threadIdx.x <= tiles) {
      const Counter done(queue.d_done[tile + threadIdx.x - 1]);
      while (done.load(cuda::memory_order_acquire) < steps_before + step) {
      }
    }
    __syncthreads();  // the three tiles have made the step before
    const unsigned i = tile * kChainBlock + threadIdx.x;
    if (i < in.n) in.written_by(step)[i] = sum_of_three(in.read_by(step), in.n, i);
    __syncthreads();  // the tile is complete
    if (threadIdx.x == 0) {
      Counter(queue.d_done[tile]).store(steps_before + step + 1, cuda::memory_order_release);
    }
  }
}

// Question: need the blocks wait for each other at all?
// Changes:  a block loads its tile and ten more numbers on either side, and makes all ten steps in shared memory. What
//           it computes of its neighbours' tiles they compute as well.
// Cost:     20 numbers per tile are loaded and added twice; two barriers of the block per step.
__global__ void __launch_bounds__(kChainBlock) chain_fused(ChainInput in) {
  constexpr unsigned kBefore = kChainSteps, kLength = kChainBlock + 2 * kChainSteps;
  __shared__ float
      s_x[kLength + 2];  // and a zero on either side, which the steps read and do not write
  const unsigned first = blockIdx.x * kChainBlock;  // s_x[1 + kBefore] is number `first`
  for (unsigned k = threadIdx.x; k < kLength + 2; k += kChainBlock) {
    const unsigned i = first + k - 1 - kBefore;  // before the first number it wraps: i >= n
    s_x[k] = k > 0 && k <= kLength && i < in.n ? in.d_x[i] : 0;
  }
  for (unsigned step = 0; step < kChainSteps; ++step) {
    float sums[2];
    unsigned count = 0;
    __syncthreads();  // the step before is complete
    for (unsigned k = threadIdx.x + 1; k <= kLength; k += kChainBlock) {
      sums[count++] = s_x[k - 1] + s_x[k] + s_x[k + 1];
    }
    __syncthreads();  // all have read
    count = 0;
    for (unsigned k = threadIdx.x + 1; k <= kLength; k += kChainBlock) {
      if (first + k - 1 - kBefore < in.n) s_x[k] = sums[count];
      ++count;
    }
  }
  __syncthreads();  // the last step is complete
  const unsigned i = first + threadIdx.x;
  if (i < in.n) in.written_by(kChainSteps - 1)[i] = s_x[1 + kBefore + threadIdx.x];
}

/// The ten steps by one CPU thread.
inline std::vector<float> chain_reference(std::vector<float> x) {
  for (unsigned step = 0; step < kChainSteps; ++step) {
    const std::vector<float> before = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += (i > 0 ? before[i - 1] : 0) + (i + 1 < x.size() ? before[i + 1] : 0);
    }
  }
  return x;
}

inline unsigned chain_tiles(const ChainInput& in) { return course::blocks_for(in.n, kChainBlock); }

/// One launch per step: they wait for each other in the stream.
inline void launch_chain_launches(const ChainInput& in, cudaStream_t stream = nullptr) {
  for (unsigned step = 0; step < kChainSteps; ++step) {
    course::launch(chain_step, {chain_tiles(in), kChainBlock, 0, stream}, in, step);
  }
}

/// The same; the host waits for each kernel before it launches the next one.
inline void launch_chain_host_waits(const ChainInput& in) {
  for (unsigned step = 0; step < kChainSteps; ++step) {
    course::launch(chain_step, {chain_tiles(in), kChainBlock}, in, step);
    CUDA_CHECK(cudaDeviceSynchronize());
  }
}

/// The same ten launches, each but the first a programmatic dependent launch.
inline void launch_chain_dependent_launch(const ChainInput& in) {
  course::launch(chain_step, {chain_tiles(in), kChainBlock}, in, 0u);
  for (unsigned step = 1; step < kChainSteps; ++step) {
    launch_dependent(chain_step, chain_tiles(in), kChainBlock, in, step);
  }
}

/// All steps by one kernel whose blocks meet at a barrier.
inline void launch_chain_grid_sync(ChainInput in) {
  const std::size_t most = course::resident<chain_grid_sync, kChainBlock>();
  const auto blocks = static_cast<unsigned>(std::min<std::size_t>(chain_tiles(in), most));
  void* arguments[] = {&in};
  CUDA_CHECK(cudaLaunchCooperativeKernel(chain_grid_sync, blocks, kChainBlock, arguments));
}

/// All steps by one kernel that takes its work from a queue.
inline void launch_chain_queue(const ChainInput& in, const ChainQueue& queue) {
  const std::size_t most = course::resident<chain_queue, kChainBlock>();
  const auto blocks = static_cast<unsigned>(std::min<std::size_t>(chain_tiles(in), most));
  course::launch(chain_queue, {blocks, kChainBlock}, in, queue);
}

/// All steps of a tile by one block.
inline void launch_chain_fused(const ChainInput& in) {
  course::launch(chain_fused, {chain_tiles(in), kChainBlock}, in);
}
