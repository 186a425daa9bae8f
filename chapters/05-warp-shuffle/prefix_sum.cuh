// How does each thread get the sum of all elements before its own?
// Rungs: prefix_sum_warp, prefix_sum_block, prefix_block (any operation).
// Prefix sums of 32 and of kBlockSize elements each; a whole array needs one more step.
#pragma once

#include <course/collectives.cuh>
#include <cstddef>
#include <vector>

#include "grid.cuh"

/// Rung 0: the prefix sums of `group` elements each, and the sums of the groups.
struct PrefixSums {
  std::vector<float> before, inclusive;  // without and with the element itself
  std::vector<float> totals;
};
inline PrefixSums prefix_reference(const std::vector<float>& x, std::size_t group) {
  PrefixSums sums;
  sums.totals.resize((x.size() + group - 1) / group, 0.0f);
  for (std::size_t i = 0; i < x.size(); ++i) {
    float& total = sums.totals[i / group];
    sums.before.push_back(total);
    sums.inclusive.push_back(total += x[i]);
  }
  return sums;
}

// Question: can all lanes of a warp compute their prefix sums at the same time?
// Changes:  lane l reads from lane l - distance; lanes without such a partner do not add.
// Cost:     five shuffles per warp, as a sum; every element is read and written once.
__global__ void prefix_sum_warp(const float* d_x, std::size_t n, float* d_sums) {
  const unsigned lane = threadIdx.x % course::kWarpSize;
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  float sum = i < n ? d_x[i] : 0.0f;
  for (unsigned distance = 1; distance < course::kWarpSize; distance *= 2) {
    const float before = __shfl_up_sync(course::kAllLanes, sum, distance);
    if (lane >= distance) sum += before;  // the others received their own value
  }
  if (i < n) d_sums[i] = sum;
}

// Question: and the threads of a block?
// Changes:  warps store their totals in shared memory, and each warp scans them.
// Cost:     one barrier and twelve shuffles.
__global__ void prefix_sum_block(const float* d_x, std::size_t n, float* d_before,
                                 float* d_totals) {
  __shared__ float s_warp[course::kMaxWarps];  // warp w's total
  const unsigned lane = threadIdx.x % course::kWarpSize, warp = threadIdx.x / course::kWarpSize;
  const std::size_t i = std::size_t{blockIdx.x} * kBlockSize + threadIdx.x;
  const float x = i < n ? d_x[i] : 0.0f;
  const float inclusive = course::warp_inclusive_scan(x, course::Sum{});
  if (lane == course::kWarpSize - 1) s_warp[warp] = inclusive;
  __syncthreads();  // s_warp is complete
  const float warps = course::warp_inclusive_scan(
      lane < kBlockSize / course::kWarpSize ? s_warp[lane] : 0.0f, course::Sum{});
  // Lane w holds the total of the warps 0 to w. This warp needs what lane warp - 1 has.
  const float warps_before = __shfl_sync(course::kAllLanes, warps, static_cast<int>(warp) - 1);
  // The inclusive sum of the lane below: all before this one. (inclusive - x rounds twice.)
  const float lanes_before = __shfl_up_sync(course::kAllLanes, inclusive, 1);
  if (i < n) {
    d_before[i] = (warp == 0 ? 0.0f : warps_before) + (lane == 0 ? 0.0f : lanes_before);
  }
  if (threadIdx.x == kBlockSize - 1) d_totals[blockIdx.x] = warps;
}

// Question: what in it depends on the type and the operation?
// Changes:  only + and 0: both become parameters, and course/collectives.cuh has the rest.
// Cost:     a second barrier, so that a kernel can call it more than once.
template <class T, class Operation>
__global__ void prefix_block(const T* d_x, std::size_t n, T* d_before, T* d_totals) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const T x = i < n ? d_x[i] : Operation::template identity<T>();
  const auto [before, total] = course::block_exclusive_scan(x, Operation{});
  if (i < n) d_before[i] = before;
  if (threadIdx.x == 0) d_totals[blockIdx.x] = total;
}
