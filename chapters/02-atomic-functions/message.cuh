// May a thread read what another one wrote, once an atomic flag says that it is there?
// Rungs: hand_over_no_fence, hand_over_writer_fence (both wrong on purpose), hand_over_fences,
// hand_over_release_acquire.
// Block 0 writes n messages and raises a flag for each; block 1 waits for each flag, and reads.
#pragma once

#include <course/error.cuh>
#include <cstddef>
#include <cuda/atomic>

#include "grid.cuh"

enum class Fences { none, writer_only, both };

/// What block 0 writes at index i: never 0, which is what the memory holds before.
__host__ __device__ inline int message_number(std::size_t i) { return static_cast<int>(i) + 1000; }

// Question: an atomic flag, and an ordinary message: is that enough?
// Changes:  with both fences the writer's message is visible before its flag, and the reader reads
//           the message after the flag. An atomic alone orders nothing but itself.
// Cost:     a fence waits until this thread's writes have arrived.
template <Fences fences>
__global__ void hand_over(std::size_t n, int* d_message, int* d_flag, int* d_received) {
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) {
    if (blockIdx.x == 0) {
      d_message[i] = message_number(i);
      if constexpr (fences != Fences::none) __threadfence();  // first the message, then the flag
      atomicExch(&d_flag[i], 1);
    } else {
      while (atomicAdd(&d_flag[i], 0) == 0) {
      }
      if constexpr (fences == Fences::both) __threadfence();  // first the flag, then the message
      d_received[i] = d_message[i];
    }
  }
}

// Question: can the access to the flag itself carry the order?
// Changes:  cuda::atomic_ref has it as an argument: a release in the writer, an acquire in the
//           reader, and no separate fence.
// Cost:     less: release and acquire are weaker than __threadfence(), and enough here.
__global__ void hand_over_release_acquire(std::size_t n, int* d_message, int* d_flag,
                                          int* d_received) {
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) {
    const cuda::atomic_ref<int, cuda::thread_scope_device> flag(d_flag[i]);
    if (blockIdx.x == 0) {
      d_message[i] = message_number(i);
      flag.store(1, cuda::std::memory_order_release);
    } else {
      while (flag.load(cuda::std::memory_order_acquire) == 0) {
      }
      d_received[i] = d_message[i];
    }
  }
}
