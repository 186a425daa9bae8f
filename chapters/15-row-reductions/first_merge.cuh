// How does a warp merge (maximum, sum) pairs?
// Kernel: max_sum_of_warp. It has a row of 32 numbers, so that a picture can show every exchange, and is not timed.
#pragma once

#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/launch.cuh>
#include <course/merge.cuh>
#include <vector>

// Question: what do two lanes exchange, if a result is two numbers?
// Changes:  nothing yet: lane l begins with the pair of its one number.
// Cost:     five steps of two shuffles and a merge.
__global__ void max_sum_of_warp(const float* d_x, float* d_max, float* d_sum) {
  course::MaxSum mine = course::max_sum_of(d_x[threadIdx.x]), other;
  for (int distance = course::kWarpSize / 2; distance > 0; distance /= 2) {
    other.max = __shfl_xor_sync(course::kAllLanes, mine.max, distance);
    other.sum = __shfl_xor_sync(course::kAllLanes, mine.sum, distance);
    mine = course::MergeMaxSum{}(mine, other);
  }
  if (threadIdx.x != 0) return;  // all lanes have the same pair
  *d_max = mine.max;
  *d_sum = mine.sum;
}

/// The pair of 32 numbers.
inline course::MaxSum launch_max_sum_of_warp(const std::vector<float>& x) {
  const auto d_x = course::DeviceBuffer<float>::from(x);
  course::DeviceBuffer<float> max(1), sum(1);
  course::launch(max_sum_of_warp, {1, course::kWarpSize}, d_x.data(), max.data(), sum.data());
  return {max.front(), sum.front()};
}
