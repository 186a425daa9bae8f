// How do the 32 threads of a warp sum their values without the block's barriers?
// Rungs: sum_reference, sum_syncwarp_tree, sum_shuffle_down, sum_shuffle_xor,
//        sum_cooperative_groups, sum_reduce_add_sync.
// lane_sums_down and lane_sums_xor show what every single lane ends with.
// One thread per element everywhere: only the way to the sum of a warp changes.
#pragma once

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <course/collectives.cuh>
#include <cstddef>
#include <vector>

#include "grid.cuh"

/// Rung 0. Double has 29 bits more than float; sums of integers below 2^53 are exact.
template <class T>
double sum_reference(const std::vector<T>& x) {
  double sum = 0.0;
  for (const T& value : x) sum += static_cast<double>(value);
  return sum;
}

// Question: does a tree in shared memory need the whole block to wait at every step?
// Changes:  once 32 threads are left they are one warp, and __syncwarp() is their barrier.
// Cost:     four block barriers (chapter 03: eight), five warp barriers; one atomic per block.
__global__ void sum_syncwarp_tree(const float* d_x, std::size_t n, float* d_y) {
  __shared__ float s_x[kBlockSize];
  const unsigned t = threadIdx.x;
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + t;
  s_x[t] = i < n ? d_x[i] : 0.0f;
  __syncthreads();  // s_x is complete
  for (unsigned half = kBlockSize / 2; half >= course::kWarpSize; half /= 2) {
    if (t < half) s_x[t] += s_x[t + half];
    __syncthreads();  // the next step reads what other warps wrote in this one
  }
  if (t >= course::kWarpSize) return;  // no block barrier follows
  for (unsigned half = course::kWarpSize / 2; half > 0; half /= 2) {
    if (t < half) s_x[t] += s_x[t + half];
    __syncwarp();  // the next step reads what other lanes wrote in this one
  }
  if (t == 0) atomicAdd(d_y, s_x[0]);
}

/// The sum of the warp's 32 values, in lane 0 alone. In each step a lane reads the value of the
/// lane `distance` above. A lane whose source would be past lane 31 receives its own value, so all
/// lanes but lane 0 end with something other than the sum.
__device__ __forceinline__ float warp_sum_down(float value) {
  for (unsigned distance = course::kWarpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(course::kAllLanes, value, distance);
  }
  return value;
}

/// The same for every lane: partners exchange their values, and both add.
__device__ __forceinline__ float warp_sum_xor(float value) {
  for (int distance = course::kWarpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(course::kAllLanes, value, distance);
  }
  return value;
}

// Question: can a warp do without shared memory?
// Changes:  lanes read each other's registers; no shared memory and no barrier.
// Cost:     five shuffles and one atomic per warp: eight times as many atomics as before.
__global__ void sum_shuffle_down(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  // Lanes without an element contribute 0: the mask names all 32 lanes, so all must take part.
  const float sum = warp_sum_down(i < n ? d_x[i] : 0.0f);
  if (threadIdx.x % course::kWarpSize == 0) atomicAdd(d_y, sum);  // lane 0 alone has the sum
}

// Question: what if every lane needs the sum?
// Changes:  lane l exchanges with lane l ^ distance instead of reading from lane l + distance.
// Cost:     the same five shuffles. Any lane may now use the result; here lane 31 does.
__global__ void sum_shuffle_xor(const float* d_x, std::size_t n, float* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  const float sum = warp_sum_xor(i < n ? d_x[i] : 0.0f);
  if (threadIdx.x % course::kWarpSize == 31) atomicAdd(d_y, sum);
}

// Question: what does each lane hold after warp_sum_down()?
// Changes:  no atomics; every lane writes its own result.
// Cost:     not measured: claims.cu looks at the values.
__global__ void lane_sums_down(const float* d_x, std::size_t n, float* d_lane_sums) {
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  const float sum = warp_sum_down(i < n ? d_x[i] : 0.0f);
  if (i < n) d_lane_sums[i] = sum;
}

// Question: and after warp_sum_xor()?
// Changes:  the exchange.
// Cost:     as above.
__global__ void lane_sums_xor(const float* d_x, std::size_t n, float* d_lane_sums) {
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  const float sum = warp_sum_xor(i < n ? d_x[i] : 0.0f);
  if (i < n) d_lane_sums[i] = sum;
}

// Question: is there a library function for these loops?
// Changes:  cooperative groups: partition the block into tiles of 32, and reduce over a tile.
// Cost:     the same shuffles, or fewer: the library uses what the architecture has.
__global__ void sum_cooperative_groups(const float* d_x, std::size_t n, float* d_y) {
  namespace cg = cooperative_groups;
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  const float sum = cg::reduce(warp, i < n ? d_x[i] : 0.0f, cg::plus<float>());
  if (warp.thread_rank() == 0) atomicAdd(d_y, sum);
}

/// The sum of the warp's 32 integers, in every lane: one instruction from sm_80 on. (The second
/// branch is for older GPUs; the host compiler, which calls none of this, sees the first one.)
__device__ __forceinline__ int warp_sum_int(int value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_add_sync(course::kAllLanes, value);
#else
  for (int distance = course::kWarpSize / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(course::kAllLanes, value, distance);
  }
  return value;
#endif
}

// Question: can the hardware do all five steps at once?
// Changes:  integers of 32 bits, and __reduce_add_sync() for them, chosen at compile time.
// Cost:     one instruction per warp; as many atomics as before.
__global__ void sum_reduce_add_sync(const int* d_x, std::size_t n, int* d_y) {
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  const int sum = warp_sum_int(i < n ? d_x[i] : 0);
  if (threadIdx.x % course::kWarpSize == 0) atomicAdd(d_y, sum);
}
