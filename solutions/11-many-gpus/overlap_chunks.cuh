// Exercise overlap_chunks: sum while the next numbers are copied.
//
// An array is in pinned memory of the host, and does not fit into the device's memory. So it is copied
// chunk by chunk into two buffers, and summed there. A GPU copies by units of its own, which need no SM:
// it can copy a chunk into one buffer while a kernel sums the other one.
//
//   copy    | 0 | 1 | 2 | 3 |
//   sum         | 0 | 1 | 2 | 3 |      chunks 0 and 2 are in one buffer, 1 and 3 in the other
//
// Try it: ./course check overlap_chunks
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <course/buffer.cuh>
#include <course/collectives.cuh>
#include <course/error.cuh>
#include <course/exercise.cuh>
#include <course/grid.cuh>
#include <course/launch.cuh>
#include <cstddef>

#include "streams.cuh"  // Stream, Event: with an owner; get() is the handle. A Stream is non-blocking.

/// *d_sum += d_x[0] + ... + d_x[n-1]. Nothing is missing here.
__global__ void add_chunk_kernel(const unsigned* d_x, std::size_t n, unsigned long long* d_sum) {
  unsigned long long mine = 0;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    mine += d_x[i];
  }
  const unsigned long long sum = course::block_reduce(mine, course::Sum{});
  if (threadIdx.x == 0) atomicAdd(d_sum, sum);
}

/// Queues *d_sum += d_x[0] + ... + d_x[n-1] in a stream; n is at least 1. Throws CudaError.
inline void add_chunk(const unsigned* d_x, std::size_t n, unsigned long long* d_sum,
                      cudaStream_t stream) {
  const unsigned blocks = std::min(course::blocks_for(n, 256), course::filling_blocks(256));
  course::launch(add_chunk_kernel, {blocks, 256, 0, stream}, d_x, n, d_sum);
}

/// Memory of the current device for two chunks, of `chunk` numbers each; chunk is at least 1.
struct Buffers {
  unsigned* d_x[2];
  std::size_t chunk;
};

/// h_x[0] + ... + h_x[n-1], exactly: n numbers in pinned memory, which are only read. n may be 0.
/// - Each number is copied once, from h_x into one of the buffers, where a kernel sums it.
/// - While a chunk is summed, the next one can be copied: neither waits for the other.
/// - A buffer gets its next chunk when its numbers are summed.
/// - The host calls all copies and kernels before it waits for the first of them.
/// - Throws course::CudaError if a CUDA call fails. What it takes from CUDA, such as memory and
///   streams, it gives back.
inline unsigned long long overlap_chunks(const unsigned* h_x, std::size_t n, Buffers buffers) {
  auto d_sum = course::DeviceBuffer<unsigned long long>::zeros(1);
  CUDA_CHECK(cudaDeviceSynchronize());  // the streams do not wait for the default stream's memset
  // Everything about a buffer is in a stream of its own: a chunk is copied when the one before it in
  // this buffer is summed, and no event is needed.
  const Stream streams[2];
  std::size_t turn = 0;
  for (std::size_t begin = 0; begin < n; begin += buffers.chunk, turn = 1 - turn) {
    const std::size_t size = std::min(buffers.chunk, n - begin);
    unsigned* const d_x = buffers.d_x[turn];
    const cudaStream_t stream = streams[turn].get();
    CUDA_CHECK(
        cudaMemcpyAsync(d_x, h_x + begin, size * sizeof *d_x, cudaMemcpyHostToDevice, stream));
    add_chunk(d_x, size, d_sum.data(), stream);
  }
  for (const Stream& stream : streams) CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  return d_sum.front();
}
