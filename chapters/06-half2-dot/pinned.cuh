// How does host memory get to the device at full speed, and what does a call cost that includes the
// copies of its arrays?
// Rungs: copy_to_device (from ordinary and from pinned memory), dot_of_host_arrays.
#pragma once

#include <cuda_fp16.h>

#include <course/buffer.cuh>
#include <course/error.cuh>
#include <course/host_memory.cuh>
#include <cstddef>

#include "dot_pack.cuh"

/// Queues a copy of n halves of host memory. From pinned memory the call returns at once, and the
/// copy runs at the bus's speed beside what the host does; leave the source alone until the stream
/// is done. From ordinary memory CUDA copies to a pinned buffer of its own first, piece by piece.
inline void copy_to_device(const __half* h_x, std::size_t n, __half* d_x, cudaStream_t stream) {
  if (n == 0) return;
  CUDA_CHECK(cudaMemcpyAsync(d_x, h_x, n * sizeof(__half), cudaMemcpyHostToDevice, stream));
}

/// The article's whole program: both arrays go to the device, a kernel computes the dot product, the
/// result comes back. The copies and the kernel are queued in one stream, one after another; the
/// host waits once. Right for ordinary memory, too, only slower.
inline float dot_of_host_arrays(const __half* h_a, const __half* h_b, std::size_t n,
                                cudaStream_t stream) {
  course::DeviceBuffer<__half> d_a(n), d_b(n);
  course::DeviceBuffer<float> d_y(1);
  Workspace workspace;
  course::PinnedBuffer<float> y(1);
  copy_to_device(h_a, n, d_a.data(), stream);
  copy_to_device(h_b, n, d_b.data(), stream);
  launch_dot_pack(d_a.data(), d_b.data(), n, d_y.data(), workspace, stream);
  CUDA_CHECK(cudaMemcpyAsync(y.data(), d_y.data(), sizeof(float), cudaMemcpyDeviceToHost, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));  // y[0] is there, and d_a is no longer in use
  return y[0];
}
