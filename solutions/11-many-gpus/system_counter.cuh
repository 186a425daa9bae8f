// Exercise system_counter: find the bugs, and fix them.
//
// Values are spread over the memories of several devices. How many of them equal a key? Every
// device counts its own, and all add to one counter.
//
// On its author's machine, which has one GPU, the code below returns the right count. Users with
// more GPUs complain:
// - "When it returns, the count is too small. A second later it is larger."
// - "Now and then the count stays too small for good."
// - "It stops with 'invalid configuration argument' if one GPU has no values."
// - "After the call my own kernels stop with an illegal address."
// - "The more values equal the key, the slower it gets."
//
// Try it: ./course check system_counter
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

/// n values in the memory of one device.
struct DeviceValues {
  int device;
  const int* d_values;
  std::size_t n;
};

/// Adds to *counter how many of values[0], ..., values[n-1] equal `key`.
/// - *counter is in memory that all devices reach, and kernels of other devices add to it at the
///   same time.
/// - The threads of the grid share the work. A block makes at most one atomic, because each one
///   crosses the links between the devices.
/// - Right for every one-dimensional grid of blocks of 32, 64, ..., 1024 threads, and n = 0.
__global__ void count_equal(const int* values, std::size_t n, int key,
                            unsigned long long* counter) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  unsigned long long mine = 0;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (values[i] == key) ++mine;
  }
  const unsigned long long of_block = course::block_reduce(mine, course::Sum{});
  if (threadIdx.x == 0 && of_block > 0) atomicAdd_system(counter, of_block);
}

/// Adds to *counter how many values of all parts equal `key`, and returns when it can be read.
/// - Each part is counted by the device that has it. A device may have several parts, or none, and
///   a part may be empty.
/// - All devices get their work before the host waits for any of them.
/// - The device that is current before the call is current after it.
/// - Throws course::CudaError if a device is missing, even that of an empty part, or fails; even then
///   the current device stays the current one.
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
