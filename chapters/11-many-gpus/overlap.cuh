// Can devices compute while NCCL sends?
// Rungs: all_reduce_in_turn, all_reduce_overlapped: chunk by chunk, in two streams per device.
// Cost: the longer of both instead of their sum; each chunk costs NCCL's start again.
#pragma once

#include <cuda_runtime.h>

#include <course/buffer.cuh>
#include <course/data.cuh>
#include <course/devices.cuh>
#include <course/grid.cuh>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "parts.cuh"
#include "shares.cuh"
#include "streams.cuh"
#if COURSE_HAS_NCCL
#include "nccl_team.cuh"
#endif

constexpr unsigned kLayerBlock = 256;
constexpr int kLayers = 8;  // known to the compiler: a thread has so many loads in flight

/// d_out[i] = d_layers[i] + d_layers[n + i] + ... for i in [begin, begin + size): several vectors
/// of one device become one, as gradients do before they are sent. One element per thread, and no
/// loop: blocks that end soon make room for NCCL's.
__global__ void add_layers_kernel(const float* d_layers, std::size_t n, std::size_t begin,
                                  std::size_t size, float* d_out) {
  const std::size_t i = std::size_t{blockIdx.x} * kLayerBlock + threadIdx.x;
  if (i >= size) return;
  float sum = 0;
  for (std::size_t layer = 0; layer < kLayers; ++layer) sum += d_layers[layer * n + begin + i];
  d_out[begin + i] = sum;
}

/// Queues the sum of kLayers vectors of n floats, for one chunk of them. Throws CudaError.
inline void add_layers(const float* d_layers, std::size_t n, Share chunk, float* d_out,
                       cudaStream_t stream) {
  course::launch(add_layers_kernel,
                 {course::blocks_for(chunk.size, kLayerBlock), kLayerBlock, 0, stream}, d_layers, n,
                 chunk.begin, chunk.size, d_out);
}

/// One device's vectors, and two streams that wait for each other only where events say so. NCCL's
/// blocks are few and wait for other devices: they go first.
struct VectorPart {
  int device = 0;
  course::DeviceBuffer<float> layers = {};  // layers * n
  course::DeviceBuffer<float> sum = {};     // n: of the layers, then of all devices
  Stream compute{Priority::normal}, send{Priority::high};
  std::vector<Event> ready = {};  // chunk i of `sum` is computed
};

/// What layer `layer` of device `device` holds: these values, again and again.
inline std::vector<float> layer_values(int device, int layer, std::size_t period) {
  return course::position_values<float>(period,
                                        static_cast<std::uint32_t>(1 + device * 64 + layer));
}

/// The exact sum of the layers of the devices 0, ..., devices - 1.
inline std::vector<float> sum_of_layers(int layers, int devices, std::size_t period) {
  std::vector<float> sum(period, 0.0f);
  for (int device = 0; device < devices; ++device) {
    for (int layer = 0; layer < layers; ++layer) {
      const std::vector<float> values = layer_values(device, layer, period);
      for (std::size_t i = 0; i < period; ++i) sum[i] += values[i];
    }
  }
  return sum;
}

/// `layers` vectors of n floats on each of the devices 0, ..., devices - 1, filled from
/// layer_values(), and events for up to `chunks` chunks. Throws CudaError.
inline std::vector<VectorPart> make_vector_parts(std::size_t n, int layers, int devices, int chunks,
                                                 std::size_t period) {
  std::vector<VectorPart> parts;
  for (int device = 0; device < devices; ++device) {
    const course::OnDevice on(device);
    VectorPart part{.device = device,
                    .layers = course::DeviceBuffer<float>(n * static_cast<std::size_t>(layers)),
                    .sum = course::DeviceBuffer<float>(n)};
    for (int layer = 0; layer < layers; ++layer) {
      repeat(layer_values(device, layer, period), 0,
             part.layers.data() + n * static_cast<std::size_t>(layer), n);
    }
    part.ready.resize(static_cast<std::size_t>(chunks));
    parts.push_back(std::move(part));
  }
  return parts;
}

#if COURSE_HAS_NCCL

/// Queues chunk `chunk` of the all-reduce on all devices. Every device brings the same length, or
/// NCCL waits for ever.
inline void all_reduce(std::vector<VectorPart>& parts, NcclTeam& team, Share chunk) {
  NCCL_CHECK(ncclGroupStart());
  for (VectorPart& part : parts) {
    float* const d_chunk = part.sum.data() + chunk.begin;
    NCCL_CHECK(ncclAllReduce(d_chunk, d_chunk, chunk.size, ncclFloat, ncclSum,
                             team.comm(part.device), part.send.get()));
  }
  NCCL_CHECK(ncclGroupEnd());
}

/// sum = all layers of all devices, on every device: `chunks` pieces, each sent as soon as it is
/// computed, while the next one is. One chunk is "first compute, then send". Waits. Throws
/// CudaError, std::runtime_error.
inline void all_reduce_layers(std::vector<VectorPart>& parts, int chunks, NcclTeam& team) {
  const std::size_t n = parts[0].sum.size();
  std::vector<cudaStream_t> streams;
  for (const VectorPart& part : parts) streams.push_back(part.send.get());
  for (int i = 0; i < chunks; ++i) {
    const Share chunk = share_of(n, i, chunks);
    for (VectorPart& part : parts) {
      const course::OnDevice on(part.device);
      add_layers(part.layers.data(), n, chunk, part.sum.data(), part.compute.get());
      const cudaEvent_t ready = part.ready[static_cast<std::size_t>(i)].get();
      CUDA_CHECK(cudaEventRecord(ready, part.compute.get()));
      CUDA_CHECK(cudaStreamWaitEvent(part.send.get(), ready, 0));
    }
    all_reduce(parts, team, chunk);
  }
  team.wait(streams);
}

#endif
