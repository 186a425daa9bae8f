// Each warp asks for its own places: right, and more than one atomic a tile.
//
// GPU: may slip through: nothing counts atomics there.
#pragma once

#include <cuda_runtime.h>

#include <course/collectives.cuh>
#include <course/exercise.cuh>
#include <cstddef>

__global__ void tile_partition(const float* x, std::size_t n, float pivot, float* out,
                               std::size_t capacity, unsigned long long* used) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t first = std::size_t{blockIdx.x} * blockDim.x; first < n; first += stride) {
    const std::size_t i = first + threadIdx.x;
    const bool inside = i < n;
    const float value = inside ? x[i] : 0.0f;
    const bool low = inside && value < pivot;
    const unsigned here = __ballot_sync(course::kAllLanes, inside);
    const unsigned votes = __ballot_sync(course::kAllLanes, low);
    const unsigned lane = threadIdx.x % 32, lower = (1u << lane) - 1;
    const auto lows_before = static_cast<unsigned>(__popc(votes & lower));
    unsigned long long asked = 0;
    if (lane == 0 && here != 0) {
      const auto lows = static_cast<unsigned long long>(__popc(votes));
      asked = atomicAdd(used, (static_cast<unsigned long long>(__popc(here)) - lows) << 32 | lows);
    }
    asked = __shfl_sync(course::kAllLanes, asked, 0);
    const std::size_t front = asked & 0xffff'ffffu, back = asked >> 32;
    if (low) out[front + lows_before] = value;
    if (inside && !low) out[capacity - 1 - (back + (lane - lows_before))] = value;
  }
}
