// An atomic of device scope: to the threads of another device it is none.
// GPU: may slip through: whether updates are lost depends on where the page of the counter lies.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <course/collectives.cuh>
#include <course/devices.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/grid.cuh>
#include <cstddef>
#include <vector>

struct DeviceValues {
  int device;
  const int* d_values;
  std::size_t n;
};

__global__ void count_equal(const int* values, std::size_t n, int key,
                            unsigned long long* counter) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned long long mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (values[i] == key) ++mine;
  }
  const unsigned long long of_block = course::block_reduce(mine, course::Sum{});
  if (threadIdx.x == 0 && of_block > 0) atomicAdd(counter, of_block);
}

inline void count_on_all_devices(const std::vector<DeviceValues>& parts, int key,
                                 unsigned long long* counter) {
  constexpr unsigned kBlock = 256, kMostBlocks = 1024;
  for (const DeviceValues& part : parts) {
    if (part.n == 0) continue;  // a grid of no blocks is an error
    const course::OnDevice on(part.device);
    const unsigned blocks = std::min(course::blocks_for(part.n, kBlock), kMostBlocks);
    count_equal<<<blocks, kBlock>>>(part.d_values, part.n, key, counter);
    CUDA_CHECK_LAUNCH();
  }
  for (const DeviceValues& part : parts) {
    const course::OnDevice on(part.device);
    CUDA_CHECK(cudaDeviceSynchronize());  // waits for this device only
  }
}
