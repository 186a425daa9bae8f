// What does an atomic on another memory cost, and where is it none?
// Rungs: count_pinned_one_device, count_managed, count_peer; count_device_scope and count_pinned
// are wrong on purpose: two H200s lose half of the updates in pinned memory.
#pragma once

#include <cuda_runtime.h>

#include <course/devices.cuh>
#include <course/launch.cuh>

#include "counter.cuh"

constexpr unsigned kCountsOfABlock = 64;

/// Every block adds 1 to *counter, kCountsOfABlock times.
template <Among among>
__global__ void count_blocks(double* counter) {
  if (threadIdx.x != 0) return;
  for (unsigned i = 0; i < kCountsOfABlock; ++i) {
    if constexpr (among == Among::system) {
      atomicAdd_system(counter, 1.0);
    } else {
      atomicAdd(counter, 1.0);
    }
  }
}

/// `blocks` blocks on each of the devices 0, ..., devices - 1, at the same time. Waits for them.
template <Among among>
void count_everywhere(int devices, unsigned blocks, double* counter) {
  for (int device = 0; device < devices; ++device) {
    const course::OnDevice on(device);
    course::launch(count_blocks<among>, {blocks, 32}, counter);
  }
  wait_for_devices(devices);
}
